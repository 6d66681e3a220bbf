//! Planning that SQL cannot express well and that needs no trace: which counters fit into which passes, and the commands that collect them.

mod command_words;
mod counter_blocks;
mod counter_items;
mod counter_passes;
mod counter_request;
mod plan_document;
mod planning;
mod profiler_flags;
mod profiler_jobs;
mod profiler_options;
mod rocm_version;
mod shell;
mod spellings;
mod tool_flags;

#[cfg(test)]
pub use crate::analysis::counter_plan::counter_blocks::ArchitectureBlocks;
pub use crate::analysis::counter_plan::counter_blocks::CounterBlocks;
pub use crate::analysis::counter_plan::counter_items::{Accumulations, items};
#[cfg(test)]
pub use crate::analysis::counter_plan::counter_passes::Select;
#[cfg(test)]
pub(crate) use crate::analysis::counter_plan::counter_passes::lower_bound;
pub use crate::analysis::counter_plan::counter_passes::{Item, Pass, plan};
pub use crate::analysis::counter_plan::counter_request::{Needs, Resolver};
#[cfg(test)]
pub use crate::analysis::counter_plan::counter_request::{RequestError, Resolved};
pub use crate::analysis::counter_plan::plan_document::{block_rows, plan_json};
pub use crate::analysis::counter_plan::planning::passes_needed;
pub use crate::analysis::counter_plan::planning::{Plan, PlanRequest, planned};
pub use crate::analysis::counter_plan::profiler_flags::{GivenFlag, given_flags, implied_flags};
#[cfg(test)]
pub use crate::analysis::counter_plan::profiler_jobs::job_command;
pub use crate::analysis::counter_plan::profiler_jobs::{
    Collection, accumulation_definitions, pass_command, pmc_lines, yaml_jobs,
};
pub use crate::analysis::counter_plan::profiler_options::ProfilerOptions;
pub use crate::analysis::counter_plan::rocm_version::RocmVersion;
pub use crate::analysis::counter_plan::shell::quoted;
pub use crate::analysis::counter_plan::shell::words;
pub use crate::analysis::counter_plan::tool_flags::check;
pub use crate::analysis::counter_plan::tool_flags::profilers;
pub use crate::analysis::counter_plan::tool_flags::{check_for, spelled};

#[cfg(test)]
mod tests;
