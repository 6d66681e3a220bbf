//! Which tables a process leaves empty by its role.

use wavesieve_model::schema::facts::Role;
use wavesieve_tables::trace::source::ReadContext;

/// Whether a table of this process has no rows by its role: a counter pass is a serialized repetition, so that only its
/// counters and their dispatches are used; a trace without counters has none.
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
