//! Facts that source code reveals about a program's GPU work before there is a trace.

mod advice;
pub(crate) mod c_conditions;
mod c_kernels;
pub(crate) mod c_lexer;
mod c_scan;
pub(crate) mod c_structure;
mod commands;
mod file_matches;
mod files;
mod model;
mod patterns;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
mod python_lexer;
mod python_scan;
mod python_structure;
mod summary;
pub(crate) mod text;
pub(crate) mod tokens;
mod tree;

pub(crate) use advice::{Priority, Recommendation};
pub(crate) use commands::{Command, Target};
pub(crate) use files::{Limits, is_source, list, refusal, shown};
pub(crate) use summary::{DetectedKernel, DetectedPattern, SourceScan};
pub(crate) use tree::{Observer, TreeScan, scan};

#[cfg(test)]
mod tests;
