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
    /// Dense number of the machine.
    pub node: i64,
    /// Ordinary trace or counter pass.
    pub role: Role,
    /// Ordinal of its first counter pass among those of the processes of its rank.
    pub pass: i64,
    /// The axis that its times are on: that of its machine, unless clocks were aligned.
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

/// The axis that the times of a process are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Dense number; times of processes with the same one can be compared once `offset_ns` was added.
    pub number: i64,
    /// To be added to a recorded time.
    pub offset_ns: i64,
    /// Where the offset is from.
    pub basis: ClockBasis,
}

spelled! {
    /// Where the offset of a clock is from.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ClockBasis by word {
        /// Times are as recorded, on the clock of the machine.
        #[default]
        Recorded = "recorded",
        /// The process starts at zero.
        ProcessStart = "process-start",
        /// Ends of collectives that processes of different machines took part in.
        Collectives = "collectives",
        /// A file of the user.
        File = "file",
    }
}
