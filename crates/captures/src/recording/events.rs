//! Events of the program: one line of JSON each, in a file in the folder of the captures. Several processes may write to it.

use serde::{Deserialize, Serialize};

/// The file in the folder of the captures.
pub const EVENTS: &str = "events.jsonl";

/// An event of the recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The tables of the runtime are known, and the library records.
    Loaded,
    /// The tables are not known, or the settings are wrong.
    Refused { reason: String },
    /// A kernel was dispatched for the first time.
    Kernel { name: String, symbol: String, is_wanted: bool },
    /// All dispatches of a kernel when the runtime ended.
    Dispatches { name: String, dispatches: u64 },
    /// A dispatch was written.
    Captured {
        name: String,
        /// Its folder, in the folder of the captures.
        directory: String,
        dispatch_index: u64,
        regions: u64,
        /// Regions whose bytes could not be read.
        failed_regions: u64,
        /// Bytes of memory.
        bytes: u64,
        /// Bytes of the files that hold the memory.
        stored_bytes: u64,
        seconds: f64,
        /// Whether no other work ran meanwhile.
        is_quiescent: bool,
        /// Reason why the first of the failed regions has no bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A wanted dispatch could not be written.
    Failed { name: String, dispatch_index: u64, reason: String },
    /// A dispatch was wanted after the allowed number was written. Later dispatches of its kernel are not reported.
    LimitReached { name: String, dispatch_index: u64, limit: u64 },
    /// A limitation of the recording.
    Note { reason: String },
}

/// An event of a process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub pid: u32,
    #[serde(flatten)]
    pub event: Event,
}
