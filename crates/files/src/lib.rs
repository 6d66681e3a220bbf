//! Files that other programs may change while they are read: opening them without waiting, mapping them without dying when they are
//! cut.
//!
//! This crate knows nothing of traces.
//!
//! `unsafe` code maps files and handles the signal of those that were cut.

pub mod mapped;
pub mod regular;
