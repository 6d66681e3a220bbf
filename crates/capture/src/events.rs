//! Writes events for `wavesieve lab capture`.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use wavesieve_captures::recording::{EVENTS, Line};

use crate::file_size::BlockedSignal;

pub(crate) use wavesieve_captures::recording::Event;

/// The file of events; nothing is written if it cannot be opened.
pub(crate) struct Events(Option<File>);

impl Events {
    pub(crate) fn new(output: &Path) -> Self {
        let _signal = BlockedSignal::of_file_size();
        let opened = std::fs::create_dir_all(output)
            .and_then(|()| OpenOptions::new().create(true).append(true).open(output.join(EVENTS)));
        if let Err(error) = &opened {
            eprintln!("wavesieve capture: {}: {error}", output.display());
        }
        Self(opened.ok())
    }

    pub(crate) fn add(&self, event: Event) {
        let Ok(mut text) = serde_json::to_string(&Line { pid: std::process::id(), event }) else { return };
        text.push('\n');
        if let Some(mut file) = self.0.as_ref() {
            let _signal = BlockedSignal::of_file_size();
            // One write, so that lines of processes do not mix.
            let _ = file.write_all(text.as_bytes());
        }
    }
}
