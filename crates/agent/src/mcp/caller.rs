//! The tools for a caller within this program: one call at a time, in a process that can be stopped.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::failure::{Exit, ToolFailure};
use super::server::Event;
use super::tools::ORIGINALS;
use super::worker::{Behind, Task};
use super::worker_handle::Workers;

/// The process of the tools.
pub(crate) struct ToolProcess {
    time_limit: Duration,
    events: Receiver<Event>,
    workers: Workers,
}

/// The result of a tool.
#[derive(Clone, Debug, Default)]
pub struct Called {
    pub is_error: bool,
    /// The result, or an object with `error`.
    pub value: Value,
    /// Originals of the tokens of the mask in the result, by token.
    pub originals: BTreeMap<String, String>,
}

impl ToolProcess {
    /// Makes a process with these server arguments.
    pub fn new(arguments: Vec<OsString>, time_limit: Duration) -> Self {
        let (sender, events) = channel();
        Self { time_limit, events, workers: Workers::new(arguments, sender) }
    }

    /// Calls a tool. A call that takes too long is stopped with its process.
    pub fn call(&mut self, tool: &str, arguments: Map<String, Value>, behind: Behind) -> Called {
        let task = Task { tool: tool.to_owned(), arguments, is_stateless: false, behind: Some(behind) };
        let result = match self.workers.hand_over(&task) {
            Ok(()) => self.result(),
            Err(error) => Err(format!("the tool process cannot be started: {error}")),
        };
        let result = result.unwrap_or_else(|reason| {
            self.workers.stop();
            ToolFailure::new(Exit::Unexpected, format!("{tool}: {reason}")).result()
        });
        let value = result.get("structuredContent").cloned().unwrap_or_default();
        let originals = result.get(ORIGINALS).cloned().and_then(|found| serde_json::from_value(found).ok());
        let is_error = result.get("isError").and_then(Value::as_bool).unwrap_or(true);
        Called { is_error, value, originals: originals.unwrap_or_default() }
    }

    /// The result of the call, or the reason for its failure.
    fn result(&self) -> Result<Value, String> {
        let end = Instant::now() + self.time_limit;
        loop {
            match self.events.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(Event::Result(number, line)) if self.workers.is_current(number) => {
                    let read = serde_json::from_str(&line);
                    return read.map_err(|_| "the tool process returned invalid output".to_owned());
                }
                Ok(Event::WorkerGone(number)) if self.workers.is_current(number) => {
                    return Err("its process ended, perhaps for lack of memory; narrow the request".to_owned());
                }
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("stopped after {} s; narrow the request", self.time_limit.as_secs()));
                }
                Err(RecvTimeoutError::Disconnected) => return Err("its process is gone".to_owned()),
            }
        }
    }
}
