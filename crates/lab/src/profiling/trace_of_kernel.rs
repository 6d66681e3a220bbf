//! The summary of a thread trace of the kernel.

use std::collections::BTreeMap;

use serde::Serialize;

use super::compat;
use super::evidence::{AnswerRow, Evidence, deeper};

/// Class of instructions that wait for counters, in `share/instructions.toml`.
const WAIT: &str = "wait";
/// Class of memory instructions whose latency is the memory latency.
const MEMORY: &str = "VMEM";

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Att {
    /// Share of the issued instructions by class.
    pub instruction_mix: BTreeMap<String, f64>,
    /// Share of the latency cycles in which instructions stall.
    pub stall_fraction: Option<f64>,
    /// Share of all cycles in which wavefronts idle.
    pub idle_fraction: Option<f64>,
    /// Mean cycles of all issued vector memory instructions.
    pub avg_memory_latency: Option<f64>,
    /// Instructions per cycle of a wavefront.
    pub ipc: Option<f64>,
    pub classes: Vec<AnswerRow>,
    pub lines: Vec<AnswerRow>,
    /// Memory operations that wait instructions wait for.
    pub waits: Vec<AnswerRow>,
}

/// The summary of a kernel, or why it is missing.
pub fn thread_trace(evidence: &Evidence, kernel: &str) -> Result<Att, String> {
    let question = deeper::classes();
    let rows = evidence.rows(&question);
    let own = rows.matching(|rows, row| rows.text(row, "kernel_name") == Some(kernel));
    let hits = rows.sum(own.iter().copied(), "hitcount");
    if own.is_empty() || hits == 0 {
        let reason =
            "no wavefront of the kernel ran on the traced compute unit; try --att-target-cu, or HSA_CU_MASK=0x1";
        return Err(reason.to_owned());
    }
    let share = |part: i64, whole: i64| (whole > 0).then(|| part as f64 / whole as f64);
    let class = |row: &usize| rows.text(*row, "class").unwrap_or_default().to_owned();
    let of_class = |row: &usize| Some((class(row), share(rows.integer(*row, "hitcount")?, hits)?));
    let sum = |column: &str| rows.sum(own.iter().copied(), column);
    let (latency, idle) = (sum("latency_cycles"), sum("idle_cycles"));
    let has_stall = own.iter().any(|row| rows.integer(*row, "stall_cycles").is_some());
    let memory = own.iter().find(|row| class(row) == MEMORY);
    Ok(Att {
        instruction_mix: own.iter().filter_map(of_class).collect(),
        // Stall is part of the latency, so it is counted once.
        stall_fraction: share(sum("stall_cycles"), latency).filter(|_| has_stall),
        idle_fraction: share(idle, latency + idle),
        avg_memory_latency: memory.and_then(|row| rows.number(*row, "latency_per_hit")),
        ipc: share(hits, latency + idle),
        classes: evidence.records_of(&question, kernel),
        lines: evidence.records_of(&deeper::lines(), kernel),
        waits: evidence.records_of(&deeper::waits(), kernel),
    })
}

impl Att {
    /// Share of the latency that is stall in waits for memory.
    pub fn waiting(&self) -> Option<f64> {
        let number = |row: &AnswerRow, name: &str| row.get(name).and_then(serde_json::Value::as_f64);
        let latency: f64 = self.classes.iter().filter_map(|row| number(row, "latency_cycles")).sum();
        let waits = self.classes.iter().find(|row| row.get("class").and_then(|class| class.as_str()) == Some(WAIT));
        (latency > 0.0).then(|| waits.and_then(|row| number(row, "stall_cycles")).unwrap_or(0.0) / latency)
    }
}

/// The numbers of rocm-perf-lab for the same instructions.
pub fn of_perf_lab(evidence: &Evidence, kernel: &str) -> compat::Att {
    let rows = evidence.rows(&deeper::instructions());
    let own = rows.matching(|rows, row| rows.text(row, "kernel_name") == Some(kernel));
    let of = |row: usize, column: &str| rows.number(row, column).unwrap_or(0.0);
    let instruction = |row: usize| {
        Some(compat::Instruction {
            text: rows.text(row, "instruction")?,
            hits: of(row, "hitcount"),
            latency: of(row, "latency_cycles"),
            stall: of(row, "stall_cycles"),
            idle: of(row, "idle_cycles"),
        })
    };
    compat::att(&own.into_iter().filter_map(instruction).collect::<Vec<_>>())
}
