//! wavesieve sifts GPU traces: it loads rocpd databases and rocprofv3 JSON of any number of ranks into canonical tables, answers questions
//! about them with vectorised queries, and writes Parquet, CSV, JSON or tables for the terminal.
//!
//! The parts and the direction of their dependencies: `cli → export → engine → trace ← input`.

pub mod cli;
pub mod engine;
pub mod export;
pub mod input;
pub mod trace;
