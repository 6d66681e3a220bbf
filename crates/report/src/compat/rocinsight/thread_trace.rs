//! Thread traces in a document.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use wavesieve_engine::findings::{Answers, QueryRequest, Rows};

/// Maximum number of instructions that are shown for a kernel.
const MAX_INSTRUCTIONS: usize = 10;
/// Minimum share of stalled cycles, and minimum number of executions, of a kernel with high stalls.
const HIGH_STALL: (f64, i64) = (0.6, 6400);
/// Prefixes of instructions by category; others count as vector memory, as in the original.
const CATEGORIES: [(&[&str], &str); 4] = [
    (&["GLOBAL_LOAD", "GLOBAL_STORE", "FLAT_LOAD", "FLAT_STORE", "BUFFER_LOAD", "BUFFER_STORE"], "att_vmem_latency"),
    (&["DS_READ", "DS_WRITE", "DS_BPERMUTE"], "att_lds_conflict"),
    (&["S_WAITCNT", "S_WAIT_"], "att_dependency_chain"),
    (&["S_BRANCH", "S_CBRANCH", "V_CMP"], "att_divergence"),
];

/// Whether there is a thread trace.
pub(crate) fn has_thread_trace(answers: &Answers) -> bool {
    answers.get(&QueryRequest::new("att_hotspots")).is_some()
}

/// The kernels of thread traces by their stalled cycles; null if there are none. Stalls are already sums over all
/// executions. The field that is called weighted multiplies them by the executions once more, as in the original.
pub fn thread_trace(answers: &Answers) -> Value {
    let question = QueryRequest::new("att_hotspots");
    let rows = Rows::over(answers.get(&question));
    let mut by_kernel: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for row in rows.places() {
        let text = |column: &str| rows.text(row, column).unwrap_or_default();
        // A listing without symbols is identified by its file.
        let name = Some(text("kernel_name")).filter(|name| !name.is_empty()).unwrap_or_else(|| text("capture"));
        by_kernel.entry((name, text("capture"))).or_default().push(row);
    }
    if by_kernel.is_empty() {
        return Value::Null;
    }
    let mut kernels: Vec<(i64, bool, Value)> =
        by_kernel.into_iter().map(|((kernel, capture), places)| kernel_of(&rows, kernel, capture, &places)).collect();
    kernels.sort_by_key(|(weighted, ..)| std::cmp::Reverse(*weighted));
    let high = kernels.iter().filter(|(_, is_high, _)| *is_high).count();
    json!({
        "has_att_data": true,
        "reason": null,
        "summary": { "kernel_count": kernels.len(), "high_stall_kernels": high },
        "kernels": kernels.into_iter().map(|(.., kernel)| kernel).collect::<Vec<Value>>(),
    })
}

/// Stall reason of a kernel, from its instruction with the most stalled cycles; `None` if it has no thread trace.
pub fn stall_category(answers: &Answers, kernel: Option<&str>) -> Option<String> {
    let question = QueryRequest::new("att_hotspots");
    let rows = Rows::over(answers.get(&question));
    let own = rows.matching(|rows, row| rows.text(row, "kernel_name") == kernel);
    let top = rows.sorted_down(own, "stall_cycles").first().copied()?;
    Some(category(rows.text(top, "instruction")?).to_owned())
}

fn category(instruction: &str) -> &'static str {
    let mnemonic = instruction.to_uppercase();
    let is_of = |prefixes: &&[&str]| prefixes.iter().any(|prefix| mnemonic.starts_with(prefix));
    CATEGORIES.iter().find(|(prefixes, _)| is_of(prefixes)).map_or("att_vmem_latency", |(_, name)| name)
}

fn kernel_of(rows: &Rows<'_>, name: &str, capture: &str, places: &[usize]) -> (i64, bool, Value) {
    let integer = |row: usize, column: &str| rows.integer(row, column).unwrap_or_default();
    let weighted = |row: usize| integer(row, "stall_cycles").saturating_mul(integer(row, "hitcount"));
    let ratio = |row: usize| {
        let latency = integer(row, "latency_cycles");
        if latency > 0 { (integer(row, "stall_cycles") as f64 / latency as f64).clamp(0.0, 1.0) } else { 0.0 }
    };
    let four = |value: f64| (value * 1e4).round() / 1e4;
    let mut order = places.to_vec();
    order.sort_by_key(|row| (std::cmp::Reverse(weighted(*row)), *row));
    let total = places.iter().fold(0_i64, |sum, row| sum.saturating_add(weighted(*row)));
    let mean = places.iter().map(|row| ratio(*row)).sum::<f64>() / places.len().max(1) as f64;
    let instruction = |row: &usize| {
        let row = *row;
        let line = rows.integer(row, "source_line");
        let file = rows.text(row, "source_file");
        json!({
            "pc_offset": format!("0x{:04x}", integer(row, "vaddr")),
            "hitcount": integer(row, "hitcount"),
            "total_latency_cycles": integer(row, "latency_cycles"),
            "stall_cycles": integer(row, "stall_cycles"),
            "stall_ratio": four(ratio(row)),
            "weighted_stall": weighted(row),
            "source_line": file.map(|file| line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"))),
        })
    };
    let top = order.first().copied();
    let category = category(top.and_then(|row| rows.text(row, "instruction")).unwrap_or_default());
    let (min_ratio, least_hits) = HIGH_STALL;
    let is_high = top.is_some_and(|row| ratio(row) >= min_ratio && integer(row, "hitcount") >= least_hits);
    let kernel = json!({
        "name": name,
        "csv_file": capture,
        "instruction_count": places.len(),
        "avg_stall_ratio": four(mean),
        "stall_category": category,
        "total_weighted_stall": total,
        "top_stalling_instructions": order.iter().take(MAX_INSTRUCTIONS).map(instruction).collect::<Vec<Value>>(),
    });
    (total, is_high, kernel)
}
