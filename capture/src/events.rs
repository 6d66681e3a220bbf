//! What happened, for `wavesieve lab capture`: a line of JSON each, in the folder of the output. Several processes may write
//! to it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use serde::Serialize;

/// The file in the output.
const EVENTS: &str = "events.jsonl";

/// Something that happened.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event {
    /// The tables of the runtime are known.
    Loaded,
    /// They are not.
    Refused { reason: String },
    /// A kernel was dispatched for the first time.
    Kernel { name: String, symbol: String, is_wanted: bool },
    /// All dispatches of a kernel when the runtime ended.
    Dispatches { name: String, dispatches: u64 },
    /// A dispatch was written.
    Captured {
        name: String,
        directory: String,
        dispatch_index: u64,
        regions: u64,
        failed_regions: u64,
        bytes: u64,
        stored_bytes: u64,
        seconds: f64,
        is_quiescent: bool,
    },
    /// A dispatch should have been written.
    Failed { name: String, dispatch_index: u64, reason: String },
    /// What limits what is seen.
    Note { reason: String },
}

#[derive(Serialize)]
struct Line<'a> {
    pid: u32,
    #[serde(flatten)]
    event: &'a Event,
}

/// The file of what happened; nothing is written where it cannot be opened.
pub(crate) struct Events(Option<File>);

impl Events {
    pub(crate) fn new(output: &Path) -> Self {
        let opened = std::fs::create_dir_all(output)
            .and_then(|()| OpenOptions::new().create(true).append(true).open(output.join(EVENTS)));
        if let Err(error) = &opened {
            eprintln!("wavesieve capture: {}: {error}", output.display());
        }
        Self(opened.ok())
    }

    pub(crate) fn add(&self, event: &Event) {
        let Ok(mut text) = serde_json::to_string(&Line { pid: std::process::id(), event }) else { return };
        text.push('\n');
        if let Some(mut file) = self.0.as_ref() {
            // One write, so that lines of processes do not mix.
            let _ = file.write_all(text.as_bytes());
        }
    }
}
