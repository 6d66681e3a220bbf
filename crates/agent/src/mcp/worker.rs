//! The process that runs the tools: it reads calls and writes answers, one line each.

use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::McpOptions;
use super::failure::{Exit, ToolFailure};
use super::memory_limit::limit_memory;
use super::paths::gone;
use super::protocol::{ResultKind, marked};
use super::tools::Toolbox;
use crate::llm::MaskOptions;
use wavesieve_input::interrupt;

/// A call for the worker.
#[derive(Deserialize, Serialize)]
pub(super) struct Task {
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// Whether the result is marked for the version without a handshake.
    pub is_stateless: bool,
    /// The mask over texts that a model must not see, for calls of this program on behalf of a model. Clients cannot
    /// set it.
    pub behind: Option<Behind>,
}

/// The mask between a model and the texts of a trace.
#[derive(Clone, Deserialize, Serialize)]
pub struct Behind {
    pub mask: MaskOptions,
    /// Filters from the user, which see names.
    pub own_filters: BTreeSet<String>,
}

/// Works until the server closes the input, which also ends a running call.
///
/// # Errors
/// If the server cannot be answered.
pub fn work(options: &McpOptions) -> Result<(), ToolFailure> {
    limit_memory(options.memory_bytes);
    let mut tools = None;
    let (sender, tasks) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let Ok(task) = serde_json::from_str::<Task>(&line) else { break };
            if sender.send(task).is_err() {
                break;
            }
        }
        // Copies of databases are removed, even if a call is still running.
        interrupt(|| std::process::exit(0));
    });
    for task in tasks {
        let is_stateless = task.is_stateless;
        let mut line = marked(run(options, &mut tools, task), ResultKind::Answer, is_stateless).to_string();
        line.push('\n');
        let mut out = std::io::stdout().lock();
        if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
            break;
        }
    }
    Ok(())
}

/// Runs a call. The tools are created for the first one: if a directory is gone, every call gets that error.
fn run<'a>(options: &'a McpOptions, made: &mut Option<Toolbox<'a>>, task: Task) -> Value {
    if made.is_none() {
        match Toolbox::new(options) {
            Ok(tools) => *made = Some(tools),
            Err(failure) => {
                let directory = options.directories.iter().find(|directory| !directory.is_dir());
                return directory.map_or(failure, |directory| gone(directory)).result();
            }
        }
    }
    let Some(tools) = made else { return Value::Null };
    let called = catch_unwind(AssertUnwindSafe(|| tools.call(&task.tool, task.arguments, task.behind)));
    let result = called.unwrap_or_else(|_| {
        tools.forget();
        let reason = format!("{} failed unexpectedly; its message is in the log of the server", task.tool);
        Err(ToolFailure::new(Exit::Unexpected, reason))
    });
    result.unwrap_or_else(|failure| failure.result())
}
