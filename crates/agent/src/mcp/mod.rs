//! A server of the Model Context Protocol over standard input and output: what agents can ask of traces.
//!
//! Two processes: one speaks the protocol and keeps the limits, the other, started by it, keeps traces open and runs the tools. A call
//! that takes too long, or that takes its process down, ends only the second, which is started again for the next call.

mod answer;
mod argument_check;
mod arguments;
mod backlog;
mod batches;
mod caller;
mod conclusion;
mod failure;
mod input;
mod memory_limit;
mod output;
mod paths;
mod protocol;
mod resources;
mod server;
mod session;
mod tools;
mod traces;
mod worker;
mod worker_handle;

use std::path::PathBuf;
use std::time::Duration;

use wavesieve_engine::Registry;
use wavesieve_tables::trace::jobs::Jobs;

pub(crate) use answer::shortened_to;
pub use caller::Called;
pub(crate) use caller::ToolProcess;
pub use server::serve;
pub use tools::{declared, tool_docs};
pub use worker::{Behind, work};

/// Options that both processes need to know.
pub struct McpOptions {
    /// Directories in which paths may lie; the current one if empty.
    pub directories: Vec<PathBuf>,
    /// Rows of a table, at most.
    pub max_rows: usize,
    /// Bytes of an answer's text, at most.
    pub max_bytes: usize,
    /// Time that a call may take.
    pub time_limit: Duration,
    pub registry: Registry,
    /// Bytes that the process of the tools may take.
    pub memory_bytes: u64,
    /// Threads that one read may use.
    pub threads: usize,
    pub jobs: Jobs,
}
