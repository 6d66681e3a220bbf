//! Runs the real binary on the fixtures and, where present, on real traces.

mod common;
mod dataset;
mod documentation;
mod facts;
mod goldens;
mod negative;
mod promises;
