//! The rules, by what they look at. Each asks its questions and reports what it observes; thresholds and texts are in
//! `share/rules/`.

mod communication;
mod counters;
mod health;
mod kernels;
mod memory;
mod parts;
mod per_gpu;
mod ranges;
mod ranks;
mod thread_trace;
mod time;

pub(crate) use counters::bottleneck_shares;
pub(crate) use health::nothing_stands_out;
pub use kernels::kernels;
pub(crate) use parts::parts_question;

use super::query_request::QueryRequest;
use super::rule_context::{Observation, RuleContext};

pub struct Rule {
    /// Its id, by which the rule book knows it.
    pub id: &'static str,
    pub asks: fn() -> Vec<QueryRequest>,
    /// Makes its observations.
    pub judge: fn(&RuleContext<'_>) -> Vec<Observation>,
    /// Whether it is about what repeats, and not about all of the run by its nature.
    pub repeats: bool,
}

const fn rule(
    id: &'static str,
    asks: fn() -> Vec<QueryRequest>,
    judge: fn(&RuleContext<'_>) -> Vec<Observation>,
) -> Rule {
    Rule { id, asks, judge, repeats: false }
}

const fn repeating(
    id: &'static str,
    asks: fn() -> Vec<QueryRequest>,
    judge: fn(&RuleContext<'_>) -> Vec<Observation>,
) -> Rule {
    Rule { id, asks, judge, repeats: true }
}

/// Id of the rule that reports where no other rule has a finding that costs time.
pub const NOTHING: &str = "nothing_stands_out";

/// Rules about the trace itself.
pub const OF_TRACE: [&str; 4] = ["broken_span", "rows_left_out", "trace_errors", "trace_warnings"];

/// All rules but the one that nothing stands out.
pub const RULES: &[Rule] = &[
    rule("trace_errors", health::questions, health::trace_errors),
    rule("trace_warnings", health::questions, health::trace_warnings),
    rule("rows_left_out", health::questions, health::rows_left_out),
    rule("broken_span", health::questions, health::broken_span),
    repeating("host_bound_idle", time::idle_questions, time::host_bound_idle),
    repeating("launch_delay_idle", time::idle_questions, time::launch_delay_idle),
    repeating("sync_idle", time::idle_questions, time::sync_idle),
    repeating("unexplained_idle", time::idle_questions, time::unexplained_idle),
    repeating("graph_candidate", time::idle_questions, time::graph_candidate),
    rule("start_up", time::time_questions, time::start_up),
    rule("unused_gpus", time::time_questions, time::unused_gpus),
    repeating("exposed_copy", time::time_questions, time::exposed_copy),
    repeating("exposed_communication", communication::questions, communication::exposed_communication),
    repeating("collective_wait", communication::questions, communication::collective_wait),
    repeating("small_collectives", communication::questions, communication::small_collectives),
    repeating("straggler", ranks::questions, ranks::straggler),
    rule("unequal_work", ranks::questions, ranks::imbalance_of_ranks),
    repeating("slow_copies", memory::copy_questions, memory::slow_copies),
    repeating("small_copies", memory::copy_questions, memory::small_copies),
    repeating("blocking_copies", memory::copy_questions, memory::blocking_copies),
    repeating("blocking_fills", memory::fill_questions, memory::blocking_fills),
    rule("leak", memory::allocation_questions, memory::leak),
    rule("allocation_churn", memory::allocation_questions, memory::allocation_churn),
    rule("memory_nearly_full", memory::allocation_questions, memory::memory_nearly_full),
    repeating("dominant_kernel", kernels::kernel_questions, kernels::dominant_kernel),
    rule("slow_first_calls", kernels::pace_questions, kernels::slow_first_calls),
    rule("outlying_dispatches", kernels::pace_questions, kernels::outlying_dispatches),
    rule("two_modes", kernels::pace_questions, kernels::two_modes),
    rule("drift", kernels::pace_questions, kernels::drift),
    repeating("fusion_candidates", kernels::chain_questions, kernels::fusion_candidates),
    repeating("slow_matrix_shapes", kernels::matrix_questions, kernels::slow_matrix_shapes),
    rule("low_clock", kernels::device_questions, kernels::throttling),
    repeating("full_queue", kernels::device_questions, kernels::full_queue),
    rule("kernel_uncoalesced_access", counters::counter_questions, counters::bottleneck),
    rule("kernel_lds_conflicts", counters::counter_questions, counters::bottleneck),
    rule("kernel_atomics", counters::counter_questions, counters::bottleneck),
    rule("kernel_divergence", counters::counter_questions, counters::bottleneck),
    rule("kernel_memory_bandwidth", counters::counter_questions, counters::bottleneck),
    rule("kernel_l2_bandwidth", counters::counter_questions, counters::bottleneck),
    rule("kernel_matrix_compute", counters::counter_questions, counters::bottleneck),
    rule("kernel_vector_compute", counters::counter_questions, counters::bottleneck),
    rule("kernel_under_occupied", counters::counter_questions, counters::bottleneck),
    rule("kernel_latency", counters::counter_questions, counters::bottleneck),
    rule("far_below_roof", counters::counter_questions, counters::far_below_roof),
    rule("low_occupancy", counters::counter_questions, counters::low_occupancy),
    rule("few_wavefronts", counters::counter_questions, counters::few_wavefronts),
    rule("scratch_use", counters::counter_questions, counters::scratch_use),
    rule("instruction_stalls", thread_trace::trace_questions, thread_trace::instruction_stalls),
    rule("sampled_stalls", thread_trace::sample_questions, thread_trace::sampled_stalls),
    rule("work_outside_ranges", ranges::coverage_questions, ranges::work_outside_ranges),
    rule("uneven_iterations", ranges::iteration_questions, ranges::uneven_iterations),
    rule("set_up", parts::questions, parts::set_up),
    rule("pauses", parts::questions, parts::pauses),
    rule("tail", parts::questions, parts::tail),
    rule("slow_first_iterations", ranges::iteration_questions, ranges::slow_first_iterations),
    rule("range_drift", ranges::iteration_questions, ranges::range_drift),
];
