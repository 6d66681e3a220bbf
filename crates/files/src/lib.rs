//! Files that other programs may change while they are read: opens them without waiting, and maps them without a crash when they are cut.
//!
//! This crate knows nothing of traces.
//!
//! `unsafe` code maps files, and handles the signal for files that were cut.

pub mod mapped;
pub mod regular;
