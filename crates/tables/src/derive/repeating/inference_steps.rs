//! The table `inference_steps`: steps of LLM servers, their kinds and tokens.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{categories, integers, texts};
use crate::derive::ranging::range_forest;
use crate::derive::repeating::step_work::{StepFinder, WorkStep};
use crate::derive::{Build, DerivedTable, Frames, Needs, Rows, RowsWhen, WhyEmpty, column};
use wavesieve_model::analysis::inference::{Decision, KnownBy, StepFacts, StepKind, decide};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows: Rows::Events,
    rows_when: RowsWhen::all(&["kernels"]).if_found(),
    why_empty: WhyEmpty::Because(
        "no range has the text of a server's step, and no kernels choose tokens after attention or embeddings",
    ),
    ..DerivedTable::new(&tables::inference::INFERENCE_STEPS, needs, Build::Alone(build))
};

fn needs() -> Needs {
    let mut needs = range_forest::needs_of_work();
    for (table, columns) in &mut needs {
        if *table == "kernels" {
            columns.extend(["kernel_name", "grid_x", "workgroup_x", "graph_exec_id"]);
        }
    }
    needs
}

fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    let facts = StepFacts::builtin()?;
    let steps = StepFinder::new(&facts, tables)?.steps()?;
    let known: Vec<_> = steps.iter().map(|step| (step.marked.kind, step.roles)).collect();
    let decisions = decide(&known, facts.least_prefill_ratio());
    frame(&steps, &decisions)
}

fn frame(steps: &[WorkStep], decisions: &[Decision]) -> Result<DataFrame> {
    let whole = |name, value: &dyn Fn(&WorkStep) -> i64| column(name, steps.iter().map(value).collect());
    let maybe = |name, value: &dyn Fn(&WorkStep) -> Option<i64>| integers(name, steps.iter().map(value));
    let found_by = |step: &WorkStep| Some(if step.range_id.is_some() { "marker" } else { "tokens" });
    let mut last_end_ns: Option<i64> = None;
    let gaps: Vec<Option<i64>> = steps
        .iter()
        .map(|step| {
            let gap = last_end_ns.map(|end_ns| step.start_ns.saturating_sub(end_ns).max(0));
            last_end_ns = Some(last_end_ns.map_or(step.end_ns, |end_ns| end_ns.max(step.end_ns)));
            gap
        })
        .collect();
    Ok(DataFrame::new_infer_height(vec![
        column("step", (0..steps.len() as i64).collect()),
        categories("found_by", steps.iter().map(found_by))?,
        maybe("range_id", &|step| step.range_id),
        texts("marker", steps.iter().map(|step| step.marker.as_deref())),
        categories("kind", decisions.iter().map(|decision| Some(kind_word(decision.kind))))?,
        categories("known_by", decisions.iter().map(|decision| decision.known_by.map(known_by_word)))?,
        texts("evidence", decisions.iter().map(|decision| Some(decision.evidence.as_str()))),
        maybe("prefill_requests", &|step| step.marked.prefill_requests),
        maybe("prefill_tokens", &|step| step.marked.prefill_tokens),
        maybe("decode_requests", &|step| step.marked.decode_requests),
        maybe("decode_tokens", &|step| step.marked.decode_tokens),
        maybe("grid_tokens", &|step| step.roles.grid_tokens),
        whole("start_ns", &|step| step.start_ns),
        whole("end_ns", &|step| step.end_ns),
        whole("duration_ns", &|step| step.end_ns.saturating_sub(step.start_ns)),
        integers("gap_before_ns", gaps.into_iter()),
        whole("gpus", &|step| step.gpus),
        whole("busy_ns", &|step| step.busy_ns),
        whole("kernels", &|step| step.work.kernels),
        whole("kernel_ns", &|step| step.work.kernel_ns),
        whole("copies", &|step| step.work.copies),
        whole("graph_launches", &|step| step.graph_launches),
        whole("graph_kernels", &|step| step.graph_kernels),
        whole("prefill_attention", &|step| step.roles.prefill.kernels),
        whole("prefill_attention_ns", &|step| step.roles.prefill.kernel_ns),
        whole("decode_attention", &|step| step.roles.decode.kernels),
        whole("decode_attention_ns", &|step| step.roles.decode.kernel_ns),
        whole("shared_attention", &|step| step.roles.shared.kernels),
        whole("shared_attention_ns", &|step| step.roles.shared.kernel_ns),
        whole("cache_writes", &|step| step.roles.cache_writes),
    ])?)
}

fn kind_word(kind: Option<StepKind>) -> &'static str {
    match kind {
        Some(StepKind::Prefill) => "prefill",
        Some(StepKind::Decode) => "decode",
        Some(StepKind::Mixed) => "mixed",
        None => "other",
    }
}

fn known_by_word(known_by: KnownBy) -> &'static str {
    match known_by {
        KnownBy::Marker => "marker",
        KnownBy::Kernels => "kernels",
        KnownBy::Sizes => "sizes",
    }
}
