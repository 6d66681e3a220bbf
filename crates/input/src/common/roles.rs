//! Tables that a process leaves empty because of its role.

use wavesieve_model::schema::facts::Role;
use wavesieve_tables::trace::source::ReadContext;

/// Whether a table has no rows because of the role of its process. A counter pass is a serialized repetition, so only its counters and
/// their dispatches are used. A trace without counters has neither.
pub fn is_left_out(context: &ReadContext<'_>, table: &str) -> bool {
    let of_counters = matches!(table, "counter_dispatches" | "counters" | "counter_instances");
    let of_activity = matches!(
        table,
        "kernels"
            | "memory_copies"
            | "memory_allocations"
            | "regions"
            | "marks"
            | "args"
            | "graph_launches"
            | "hip_events"
    );
    (of_counters && !context.process.facts.has_counters) || (of_activity && context.process.role == Role::Counters)
}
