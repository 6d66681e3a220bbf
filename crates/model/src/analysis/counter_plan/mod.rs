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

pub use counter_blocks::CounterBlocks;
pub use counter_items::{Accumulations, items};
pub use counter_passes::{Item, Pass, plan};
pub use counter_request::{Needs, Resolver};
pub use plan_document::{block_rows, plan_json};
pub use planning::{Plan, PlanRequest, passes_needed, planned};
pub use profiler_flags::{GivenFlag, given_flags, implied_flags};
pub use profiler_jobs::{Collection, accumulation_definitions, pass_command, pmc_lines, yaml_jobs};
pub use profiler_options::ProfilerOptions;
pub use rocm_version::RocmVersion;
pub use shell::{quoted, words};
pub use tool_flags::{check, check_for, profilers, spelled};

#[cfg(test)]
mod tests;
