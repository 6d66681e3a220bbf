//! The sheets of TraceLens's rocprofv3 report: with the units of their headings, or with TraceLens's own numbers.

mod frames;
mod histogram;
mod layout;
mod options;
mod original;

pub(crate) use frames::sheet_names;
pub use frames::tables;
pub use options::{TraceLensOptions, questions};
