//! A server of the Model Context Protocol over standard input and output, through which agents query traces.
//!
//! There are two processes. The first speaks the protocol and keeps the limits. The second, its child, keeps traces
//! open and runs the tools. A call that takes too long, or crashes, ends only the second process, which is restarted
//! for the next call.

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
pub use memory_limit::limit_memory;
pub use server::serve;
pub use tools::{declared, tool_docs};
pub use worker::{Behind, work};

/// Options for both processes.
pub struct McpOptions {
    /// Directories that may contain paths; the current one if empty.
    pub directories: Vec<PathBuf>,
    /// Maximum rows of a table.
    pub max_rows: usize,
    /// Maximum bytes of an answer's text.
    pub max_bytes: usize,
    /// Time limit of a call.
    pub time_limit: Duration,
    pub registry: Registry,
    /// Maximum bytes of the tools' process.
    pub memory_bytes: u64,
    /// Maximum threads of one read.
    pub threads: usize,
    pub jobs: Jobs,
}
