//! Events of GPUs and threads by time, with sums at several widths.

mod answer;
mod event;
mod frames;
mod gpu;
mod host;
mod part;
mod places;
mod row;
mod store;
mod sums;

pub use answer::{AskedGroup, LanesRequest, lanes};
pub use frames::{Texts, flags, integers, read};
pub use part::{Part, PartKey, Source, load};
pub use store::Store;
