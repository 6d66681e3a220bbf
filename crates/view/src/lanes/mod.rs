//! Events of GPUs and threads by time, with sums at several widths.

mod answer;
mod counters;
mod event;
mod flows;
mod frames;
mod gpu;
mod host;
mod merged;
mod part;
mod path;
mod places;
mod row;
mod store;
mod sums;

pub use answer::{AskedGroup, LanesAnswer, LanesRequest, lanes};
pub use frames::{Texts, flags, integers, read};
pub use merged::merged;
pub use part::{Part, PartKey, Source, load};
pub use path::path_line;
pub use store::{Need, Store};
