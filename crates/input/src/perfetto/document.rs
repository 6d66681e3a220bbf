//! The content of a file: its tracks, rows for their events, and anomalies found while reading.

use std::collections::{BTreeMap, BTreeSet};

use super::kinds::{ROLES, Role, Writer};
use super::names::Names;
use super::rows::Rows;
use super::scheduler::Scheduler;
use super::tracks::Tracks;

#[derive(Debug, Default)]
pub(crate) struct Census {
    pub packets: u64,
    pub events: u64,
    pub others: BTreeMap<u64, u64>,
    /// Slices and instants by the numbers of their categories.
    pub categories: BTreeMap<Option<u32>, u64>,
    /// Whether a category is one of a profiler of ROCm.
    pub is_of_rocm: bool,
    /// Packets that depend on lost packets.
    pub lost: u64,
    /// Events with a text that is not in any packet.
    pub without_text: u64,
    /// Events whose clock no snapshot ties to the boot time.
    pub without_time: u64,
    /// Ends without a slice, and slices without an end.
    pub unmatched_ends: u64,
    pub unfinished: u64,
    /// Chunks and packets that the recorder reports as dropped.
    pub dropped: u64,
    /// Slices and instants that wavesieve derived.
    pub derived: u64,
    /// Names of arguments of kernels that are counters.
    pub counter_arguments: BTreeSet<u32>,
    /// Number of damaged places, and the place and problem of the first.
    pub damaged: u64,
    pub first_damage: Option<(u64, String)>,
    /// Problem at the end of the file, if there is one.
    pub end: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owned {
    pub role: Role,
    pub row: usize,
    /// Numbers of texts.
    pub name: u32,
    pub value: u32,
}

#[derive(Debug, Default)]
pub struct Document {
    pub writer: Writer,
    pub names: Names,
    pub tracks: Tracks,
    /// Tracks with events, in the order of their first events.
    pub used: Vec<u64>,
    pub rows: [Rows; ROLES.len()],
    pub values: Rows,
    /// Arguments of rows, by role and row.
    pub arguments: Vec<Owned>,
    pub scheduler: Scheduler,
    pub census: Census,
}

impl Document {
    pub fn rows(&self, role: Role) -> Option<&Rows> {
        self.rows.get(role as usize)
    }
}
