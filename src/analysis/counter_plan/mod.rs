//! What SQL cannot say well and needs no trace: which counters fit into which passes, and the commands that collect them.

mod counter_blocks;
mod counter_items;
mod counter_passes;
mod counter_request;
mod profiler_flags;
mod profiler_jobs;
mod shell;
mod tool_flags;

pub use crate::analysis::counter_plan::counter_blocks::{ArchitectureBlocks, BlockError, CounterBlocks};
pub use crate::analysis::counter_plan::counter_items::{Accumulations, items};
pub use crate::analysis::counter_plan::counter_passes::{Item, Pass, PassError, Select, lower_bound, plan};
pub use crate::analysis::counter_plan::counter_request::{Needs, RequestError, Resolved, Resolver};
pub use crate::analysis::counter_plan::profiler_flags::{CommandProblem, check_command, newer_flags};
pub use crate::analysis::counter_plan::profiler_jobs::{
    Collection, accumulation_definitions, job_command, pass_command, pmc_lines, yaml_jobs,
};
pub use crate::analysis::counter_plan::shell::{quoted, words};
pub use crate::analysis::counter_plan::tool_flags::{ToolProblem, check};

#[cfg(test)]
mod tests;
