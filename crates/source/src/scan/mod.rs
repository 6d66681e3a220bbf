//! Scans source code for a program's GPU work before there is a trace.

mod advice;
pub(crate) mod c_conditions;
pub(crate) mod c_kernels;
pub mod c_lexer;
mod c_scan;
pub(crate) mod c_structure;
mod commands;
mod file_matches;
mod files;
mod model;
mod patterns;
pub mod properties;
mod python_lexer;
mod python_scan;
mod python_structure;
mod summary;
pub mod text;
pub mod tokens;
mod tree;

pub use advice::{Priority, Recommendation};
pub use commands::{Command, DEFAULT_ARCHITECTURE, Target};
pub use files::{Limits, is_source, list, refusal, shown};
pub use summary::{DetectedKernel, DetectedPattern, SourceScan};
pub use tree::{Observer, TreeScan, scan};

#[cfg(test)]
mod tests;
