//! The table about steps of LLM servers.

use crate::schema::tables::{PROCESS, RANK};
use crate::schema::{Origin, Table, Unit, cat, id, int, text};

pub static INFERENCE_STEPS: Table = Table {
    name: "inference_steps",
    key: &["step"],
    sort: &["step"],
    origin: Origin::OnDemand,
    about: "One row per step of an LLM server, in the order of its first GPU work. The steps of a process are its outermost push/pop ranges whose text is one that a server writes around a step (`share/inference.toml`), with what their threads launched in them; without such ranges, kernels up to the last one that chooses tokens before the model goes on (`share/inference_kernels.toml`). Ranges that launched nothing have no row, nor have kernels after the last chosen token, nor processes that train or make images. Steps that touch a window are whole, whatever its mode.",
    columns: &[
        PROCESS,
        RANK,
        id("step", "Ordinal of the step, from 0"),
        cat("found_by", "`marker` for ranges, `tokens` for steps that end with the choice of tokens"),
        id("range_id", "Range of the step, see `ranges`").null(),
        text("marker", "Its text").null(),
        cat("kind", "`prefill`, `decode`, `mixed` if it does both, `other` if nothing shows it"),
        cat(
            "known_by",
            "What the kind is known by: `marker`, `kernels` (names of attention kernels) or `sizes` (tokens by grid, against other steps)",
        )
        .null(),
        text("evidence", "What the kind was decided by, in words"),
        int("prefill_requests", Unit::Count, "Requests in their prefill, by the marker").null(),
        int("prefill_tokens", Unit::Count, "Tokens of their prompts that the step computes, by the marker").null(),
        int("decode_requests", Unit::Count, "Requests in their decode, by the marker").null(),
        int("decode_tokens", Unit::Count, "Tokens that the step computes for them, by the marker").null(),
        int(
            "grid_tokens",
            Unit::Count,
            "Workgroups of kernels that start one for each token, padding included, the most of a kernel",
        )
        .null(),
        int("start_ns", Unit::Nanoseconds, "First start of its kernels and copies"),
        int("end_ns", Unit::Nanoseconds, "Last end of its kernels and copies"),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
        int("gap_before_ns", Unit::Nanoseconds, "Time from the end of all steps before it, 0 if one still runs").null(),
        int("gpus", Unit::Count, "GPUs that it used"),
        int("busy_ns", Unit::Nanoseconds, "Time with at least one of its kernels or copies running, summed over its GPUs"),
        int("kernels", Unit::Count, "Kernels"),
        int("kernel_ns", Unit::Nanoseconds, "Sum of their durations"),
        int("copies", Unit::Count, "Copies"),
        int("graph_launches", Unit::Count, "Launches of HIP graphs that started kernels of the step"),
        int("graph_kernels", Unit::Count, "Kernels that they started"),
        int("prefill_attention", Unit::Count, "Attention kernels for prompts"),
        int("prefill_attention_ns", Unit::Nanoseconds, "Sum of their durations"),
        int("decode_attention", Unit::Count, "Attention kernels for single tokens"),
        int("decode_attention_ns", Unit::Nanoseconds, "Sum of their durations"),
        int("shared_attention", Unit::Count, "Attention kernels for both, or whose name does not show which"),
        int("shared_attention_ns", Unit::Nanoseconds, "Sum of their durations"),
        int("cache_writes", Unit::Count, "Kernels that write keys and values to the cache"),
    ],
};
