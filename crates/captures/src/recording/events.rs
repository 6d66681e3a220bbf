//! Events in the program: a line of JSON each, in the folder of the captures. Several processes may write to it.

use serde::{Deserialize, Serialize};

/// The file in the folder of the captures.
pub const EVENTS: &str = "events.jsonl";

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The tables of the runtime are known, and the library records.
    Loaded,
    /// They are not, or what is asked for is wrong.
    Refused { reason: String },
    /// A kernel was dispatched for the first time.
    Kernel { name: String, symbol: String, is_wanted: bool },
    /// All dispatches of a kernel when the runtime ended.
    Dispatches { name: String, dispatches: u64 },
    /// A dispatch was written.
    Captured {
        name: String,
        /// In the folder of the captures.
        directory: String,
        dispatch_index: u64,
        regions: u64,
        /// Regions of which the bytes could not be had.
        failed_regions: u64,
        /// Bytes of memory.
        bytes: u64,
        /// Bytes of files that hold them.
        stored_bytes: u64,
        seconds: f64,
        /// Whether nothing ran meanwhile.
        is_quiescent: bool,
        /// Why the first of the failed regions has no bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A dispatch should have been written.
    Failed { name: String, dispatch_index: u64, reason: String },
    /// A dispatch was wanted, and as many as are allowed were written before; those of its kernel after it are not reported.
    LimitReached { name: String, dispatch_index: u64, limit: u64 },
    /// A limit on what is seen.
    Note { reason: String },
}

/// An event of a process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub pid: u32,
    #[serde(flatten)]
    pub event: Event,
}
