//! The rules, by subject. Each asks its questions and reports what it observes; thresholds and texts are in `share/rules/`.

mod communication;
mod counters;
mod health;
mod idle_causes;
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

use super::query_request::QueryRequest;
use super::questions::{self as ask, Question};
use super::rule_context::{Observation, RuleContext};
use Judge::{One, Several};

/// A rule, whose texts and thresholds are in the rule book.
pub struct Rule {
    /// Its id in the rule book.
    pub id: &'static str,
    asks: &'static [Question],
    judge: Judge,
    /// Whether it is about repeating work, as opposed to the whole run.
    pub repeats: bool,
}

/// Function that makes the observations of a rule.
enum Judge {
    One(fn(&RuleContext<'_>) -> Observation),
    Several(fn(&RuleContext<'_>) -> Vec<Observation>),
}

impl Rule {
    /// The questions whose answers it judges.
    pub fn questions(&self) -> impl Iterator<Item = QueryRequest> + use<> {
        self.asks.iter().map(|question| question())
    }

    /// Observations in a case; observations without a priority do not matter.
    pub(super) fn observations(&self, case: &RuleContext<'_>) -> Vec<Observation> {
        match self.judge {
            One(judge) => vec![judge(case)],
            Several(judge) => judge(case),
        }
    }
}

const fn rule(id: &'static str, asks: &'static [Question], judge: Judge) -> Rule {
    Rule { id, asks, judge, repeats: false }
}

const fn repeating(id: &'static str, asks: &'static [Question], judge: Judge) -> Rule {
    Rule { repeats: true, ..rule(id, asks, judge) }
}

const HEALTH: &[Question] = &[ask::health, ask::time_question, ask::idle, ask::gaps, ask::kernels, ask::copies];
const IDLE: &[Question] = &[
    ask::time_question,
    ask::idle,
    ask::gaps,
    ask::launches,
    ask::iterations,
    ask::idle_calls,
    ask::idle_functions,
    ask::idle_ranges,
    ask::idle_states,
    ask::graphs,
    ask::kernels,
];
const TIME: &[Question] = &[ask::time_question, ask::copies];
const COMMUNICATION: &[Question] =
    &[ask::time_question, ask::collectives, ask::arrivals, ask::stragglers, ask::kernels];
const RANKS: &[Question] = &[ask::time_question, ask::stragglers, ask::imbalance, ask::collectives];
const PROGRAMS: &[Question] = &[ask::programs];
const COPIES: &[Question] =
    &[ask::time_question, ask::links, ask::copy_calls, ask::copy_calls_of_gpus, ask::idle_calls];
const FILLS: &[Question] = &[ask::time_question, ask::fills];
const ALLOCATIONS: &[Question] = &[ask::time_question, ask::leaks, ask::high_water, ask::allocation_churn];
const KERNELS: &[Question] = &[ask::time_question, ask::kernels, ask::bottlenecks, ask::health];
const PACE: &[Question] =
    &[ask::time_question, ask::kernels, ask::warm_up, ask::outliers, ask::kernel_pace, ask::iterations, ask::health];
const CHAINS: &[Question] = &[ask::time_question, ask::chains];
const MATRICES: &[Question] = &[ask::time_question, ask::matrix_shapes];
const DEVICES: &[Question] = &[ask::time_question, ask::throttling, ask::queues];
const COUNTERS: &[Question] =
    &[ask::time_question, ask::kernels, ask::bottlenecks, ask::roofline, ask::occupancy, ask::resources];
const INSTRUCTIONS: &[Question] = &[ask::instruction_classes, ask::instruction_hotspots, ask::instruction_waits];
const ITERATIONS: &[Question] = &[ask::time_question, ask::iterations, ask::range_pace];
const PARTS: &[Question] = &[ask::time_question, ask::run_parts, ask::health_of_ranks, ask::kernels];

/// Id of the rule that reports if no other rule finds lost time.
pub const NOTHING: &str = "nothing_stands_out";

/// Rules about the trace itself.
pub const OF_TRACE: [&str; 7] = [
    "broken_span",
    "missing_ranks",
    "rows_left_out",
    "separate_programs",
    "trace_errors",
    "trace_warnings",
    "unreliable_durations",
];

/// All rules except [`NOTHING`].
pub const RULES: &[Rule] = &[
    rule("trace_errors", HEALTH, One(health::trace_errors)),
    rule("trace_warnings", HEALTH, One(health::trace_warnings)),
    rule("rows_left_out", HEALTH, One(health::rows_left_out)),
    rule("broken_span", HEALTH, One(health::broken_span)),
    repeating("host_bound_idle", IDLE, One(time::host_bound_idle)),
    repeating("launch_delay_idle", IDLE, One(time::launch_delay_idle)),
    repeating("sync_idle", IDLE, One(time::sync_idle)),
    repeating("unexplained_idle", IDLE, One(time::unexplained_idle)),
    repeating("graph_candidate", IDLE, One(time::graph_candidate)),
    rule("start_up", TIME, One(time::start_up)),
    rule("unused_gpus", TIME, One(time::unused_gpus)),
    repeating("exposed_copy", TIME, One(time::exposed_copy)),
    repeating("exposed_communication", COMMUNICATION, One(communication::exposed_communication)),
    repeating("collective_wait", COMMUNICATION, One(communication::collective_wait)),
    repeating("small_collectives", COMMUNICATION, One(communication::small_collectives)),
    rule("unreliable_durations", HEALTH, One(health::unreliable_durations)),
    rule("missing_ranks", &[ask::time_question], One(health::missing_ranks)),
    rule("separate_programs", PROGRAMS, One(ranks::separate_programs)),
    repeating("straggler", RANKS, One(ranks::straggler)),
    rule("unequal_work", RANKS, One(ranks::imbalance_of_ranks)),
    repeating("slow_copies", COPIES, Several(memory::slow_copies)),
    repeating("small_copies", COPIES, Several(memory::small_copies)),
    repeating("blocking_copies", COPIES, One(memory::blocking_copies)),
    repeating("blocking_fills", FILLS, One(memory::blocking_fills)),
    rule("leak", ALLOCATIONS, One(memory::leak)),
    rule("allocation_churn", ALLOCATIONS, One(memory::allocation_churn)),
    rule("memory_nearly_full", ALLOCATIONS, One(memory::memory_nearly_full)),
    repeating("dominant_kernel", KERNELS, Several(kernels::dominant_kernel)),
    rule("slow_first_calls", PACE, One(kernels::slow_first_calls)),
    rule("outlying_dispatches", PACE, One(kernels::outlying_dispatches)),
    rule("two_modes", PACE, One(kernels::two_modes)),
    rule("drift", PACE, One(kernels::drift)),
    repeating("fusion_candidates", CHAINS, One(kernels::fusion_candidates)),
    repeating("slow_matrix_shapes", MATRICES, One(kernels::slow_matrix_shapes)),
    rule("low_clock", DEVICES, One(kernels::throttling)),
    repeating("full_queue", DEVICES, One(kernels::full_queue)),
    rule("kernel_uncoalesced_access", COUNTERS, Several(counters::bottleneck)),
    rule("kernel_lds_conflicts", COUNTERS, Several(counters::bottleneck)),
    rule("kernel_atomics", COUNTERS, Several(counters::bottleneck)),
    rule("kernel_divergence", COUNTERS, Several(counters::bottleneck)),
    rule("kernel_memory_bandwidth", COUNTERS, Several(counters::bottleneck)),
    rule("kernel_l2_bandwidth", COUNTERS, Several(counters::bottleneck)),
    rule("kernel_matrix_compute", COUNTERS, Several(counters::bottleneck)),
    rule("kernel_vector_compute", COUNTERS, Several(counters::bottleneck)),
    rule("kernel_under_occupied", COUNTERS, Several(counters::bottleneck)),
    rule("kernel_latency", COUNTERS, Several(counters::bottleneck)),
    rule("far_below_roof", COUNTERS, Several(counters::far_below_roof)),
    repeating("low_occupancy", COUNTERS, Several(counters::low_occupancy)),
    rule("few_wavefronts", COUNTERS, Several(counters::few_wavefronts)),
    repeating("scratch_use", COUNTERS, One(counters::scratch_use)),
    rule("instruction_stalls", INSTRUCTIONS, Several(thread_trace::instruction_stalls)),
    rule("sampled_stalls", &[ask::pc_samples], Several(thread_trace::sampled_stalls)),
    rule("work_outside_ranges", &[ask::coverage], One(ranges::work_outside_ranges)),
    rule("iteration_jump", ITERATIONS, One(ranges::jump)),
    rule("uneven_iterations", ITERATIONS, One(ranges::uneven_iterations)),
    rule("set_up", PARTS, One(parts::set_up)),
    rule("pauses", PARTS, One(parts::pauses)),
    rule("tail", PARTS, One(parts::tail)),
    rule("slow_first_iterations", ITERATIONS, One(ranges::slow_first_iterations)),
    rule("range_drift", ITERATIONS, One(ranges::range_drift)),
];
