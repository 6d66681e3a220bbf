//! Kinds of applications.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApplicationKind {
    /// No command.
    Unknown,
    /// A native program.
    HipCompute,
    /// Started by a launcher of MPI or of a batch system.
    Mpi,
    /// Started by a launcher of a framework that creates the processes itself.
    Distributed,
    /// A program that runs a language model.
    LlmInference,
    /// A Python program with a machine-learning framework.
    PythonMl,
    /// Another Python program.
    Python,
}

impl ApplicationKind {
    pub fn description(self) -> &'static str {
        super::tables::tables().description.get(&self).map_or("", String::as_str)
    }
}
