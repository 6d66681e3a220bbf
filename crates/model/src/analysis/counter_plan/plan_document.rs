//! A plan as JSON, for scripts.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::counter_request::Needs;
use super::planning::Plan;

/// Counters of a hardware block that a pass uses.
pub struct BlockRow<'a> {
    /// Number of the pass, from 1.
    pub pass: usize,
    pub block: &'a str,
    pub limit: usize,
    pub counters: Vec<&'a str>,
}

/// The blocks of every pass.
pub fn block_rows(plan: &Plan) -> Vec<BlockRow<'_>> {
    let mut rows = Vec::new();
    for (pass, selects) in plan.passes.iter().enumerate().map(|(at, pass)| (at + 1, pass.selects())) {
        for (block, counters) in selects {
            let limit = plan.blocks.limits.get(block).copied().unwrap_or(0);
            rows.push(BlockRow { pass, block, limit, counters: counters.into_iter().collect() });
        }
    }
    rows
}

#[derive(Serialize)]
struct PlanDocument<'a> {
    architecture: &'a str,
    limits_from: &'a [String],
    fewest_passes: usize,
    jobs: Vec<Job<'a>>,
    passes: Vec<PassDocument<'a>>,
    needs: BTreeMap<&'a str, BTreeSet<String>>,
    left_out: &'a BTreeSet<String>,
    notes: &'a BTreeSet<String>,
    definitions: Option<&'a str>,
}

#[derive(Serialize)]
struct Job<'a> {
    pmc: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_counters: Option<&'a str>,
}

#[derive(Serialize)]
struct PassDocument<'a> {
    pass: usize,
    counters: Vec<&'a str>,
    blocks: Vec<BlockDocument<'a>>,
    command: &'a [String],
}

#[derive(Serialize)]
struct BlockDocument<'a> {
    block: &'a str,
    used: usize,
    limit: usize,
    counters: Vec<&'a str>,
}

/// The plan as JSON, which `rocprofv3 -i` also reads.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn plan_json(plan: &Plan) -> serde_json::Result<String> {
    let mut passes: Vec<PassDocument<'_>> = Vec::new();
    for (at, (pass, command)) in plan.passes.iter().zip(&plan.commands).enumerate() {
        passes.push(PassDocument { pass: at + 1, counters: pass.names(), blocks: Vec::new(), command });
    }
    for row in block_rows(plan) {
        if let Some(pass) = passes.get_mut(row.pass - 1) {
            let (block, limit, used) = (row.block, row.limit, row.counters.len());
            pass.blocks.push(BlockDocument { block, used, limit, counters: row.counters });
        }
    }
    let extra = |command: &[String]| {
        let defines = command.iter().take_while(|word| *word != "--").any(|word| word == "-E");
        plan.collection.definitions.as_deref().filter(|_| defines)
    };
    let jobs =
        passes.iter().map(|pass| Job { pmc: pass.counters.clone(), extra_counters: extra(pass.command) }).collect();
    let names = |needs: &Needs| -> BTreeSet<String> {
        let accumulated = needs.accumulated.iter().map(|level| format!("{level}_ACCUM"));
        needs.counters.iter().cloned().chain(accumulated).collect()
    };
    let document = PlanDocument {
        architecture: &plan.blocks.architecture,
        limits_from: &plan.blocks.sources,
        fewest_passes: plan.fewest,
        jobs,
        needs: plan.resolved.of.iter().map(|(name, needs)| (name.as_str(), names(needs))).collect(),
        passes,
        left_out: &plan.resolved.left_out,
        notes: &plan.resolved.notes,
        definitions: plan.definitions.as_deref(),
    };
    let text = serde_json::to_string_pretty(&document)?;
    Ok(format!("{text}\n"))
}
