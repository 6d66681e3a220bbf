//! The sheets of TraceLens's rocprofv3 report: with the units of their headings, or with the numbers as TraceLens has them.

mod frames;
mod histogram;
mod layout;
mod options;
mod original;

pub(crate) use frames::{sheet_names, tables};
pub(crate) use options::{TraceLensOptions, questions};
