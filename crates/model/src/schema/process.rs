//! A process of the logical trace: its place, its GPUs and its clock.

use std::collections::BTreeMap;

use super::facts::{ProcessFacts, Role};

/// A process with its place in the logical trace.
#[derive(Clone, Debug)]
pub struct Process {
    /// Join key, dense over the logical trace.
    pub process: i64,
    /// Label.
    pub rank: i64,
    /// Dense number of the node.
    pub node: i64,
    /// Ordinary trace or counter pass.
    pub role: Role,
    /// Ordinal of its first counter pass among those of the processes of its rank.
    pub pass: i64,
    /// The axis of its times: the clock of its node, unless clocks were aligned.
    pub clock: Clock,
    /// GPU index and device number by agent id.
    pub gpus: BTreeMap<i64, Gpu>,
    /// Facts from the source.
    pub facts: ProcessFacts,
}

/// Place of a GPU in its process and in the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// Index among the GPUs of the process.
    pub gpu: i64,
    /// Dense number over all physical GPUs.
    pub device: i64,
}

/// The axis of the times of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Dense number. Times of processes with the same number can be compared once `offset_ns` was added.
    pub number: i64,
    /// To be added to a recorded time.
    pub offset_ns: i64,
    /// Origin of the offset.
    pub basis: ClockBasis,
}

spelled! {
    /// Origin of the offset of a clock.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ClockBasis by word {
        /// Times are as recorded, on the clock of the node.
        #[default]
        Recorded = "recorded",
        /// The process starts at zero.
        ProcessStart = "process-start",
        /// Ends of collectives between processes of different nodes.
        Collectives = "collectives",
        /// A file of the user.
        File = "file",
    }
}
