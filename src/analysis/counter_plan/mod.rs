//! Planning that SQL cannot express well and that needs no trace: which counters fit into which passes, and the commands that collect them.

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
pub(crate) use crate::analysis::counter_plan::counter_blocks::ArchitectureBlocks;
pub(crate) use crate::analysis::counter_plan::counter_blocks::CounterBlocks;
pub(crate) use crate::analysis::counter_plan::counter_items::{Accumulations, items};
pub(crate) use crate::analysis::counter_plan::counter_passes::{Item, Pass, plan};
#[cfg(test)]
pub(crate) use crate::analysis::counter_plan::counter_passes::{Select, lower_bound};
pub(crate) use crate::analysis::counter_plan::counter_request::{Needs, Resolver};
#[cfg(test)]
pub(crate) use crate::analysis::counter_plan::counter_request::{RequestError, Resolved};
pub(crate) use crate::analysis::counter_plan::plan_document::{block_rows, plan_json};
pub use crate::analysis::counter_plan::planning::passes_needed;
pub(crate) use crate::analysis::counter_plan::planning::{Plan, PlanRequest, planned};
#[cfg(test)]
pub(crate) use crate::analysis::counter_plan::profiler_flags::check_command;
pub(crate) use crate::analysis::counter_plan::profiler_flags::{GivenFlag, given_flags, implied_flags};
#[cfg(test)]
pub(crate) use crate::analysis::counter_plan::profiler_jobs::job_command;
pub(crate) use crate::analysis::counter_plan::profiler_jobs::{
    Collection, accumulation_definitions, pass_command, pmc_lines, yaml_jobs,
};
pub(crate) use crate::analysis::counter_plan::profiler_options::ProfilerOptions;
pub(crate) use crate::analysis::counter_plan::rocm_version::RocmVersion;
pub(crate) use crate::analysis::counter_plan::shell::quoted;
pub use crate::analysis::counter_plan::shell::words;
pub use crate::analysis::counter_plan::tool_flags::check;
pub(crate) use crate::analysis::counter_plan::tool_flags::profilers;
pub(crate) use crate::analysis::counter_plan::tool_flags::{check_for, spelled};

#[cfg(test)]
mod tests;
