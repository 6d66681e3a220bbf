//! A whole document.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::measures::{Times, categories, copies, counters, hotspots, short_kernels};
use super::recommendations::recommendations;
use super::source::{is_of_source, source_recommendations, source_tier};
use super::thread_trace::{has_thread_trace, thread_trace};
use super::version::SchemaVersion;
use crate::analysis::Analysis;
use crate::document::MODEL_SECTION;
use wavesieve_engine::findings::{Answers, Finding, Limit, QueryRequest, Rows, Verdict};
use wavesieve_model::schema::facts::Role;
use wavesieve_tables::trace::Trace;

/// A fixed time of analysis: documents depend on their inputs alone, and the field is required.
const NO_TIME: &str = "1970-01-01T00:00:00";

/// The document of an analysis, in the oldest version that has a place for all of it. If a version is given, the
/// document has only what that version has a place for.
///
/// Without a trace, it is a document of source code alone.
pub fn value(
    analysis: &Analysis,
    trace: Option<&Trace>,
    version: Option<SchemaVersion>,
    hotspots_shown: usize,
) -> Value {
    let (answers, findings) = (&analysis.answers, &analysis.document.findings);
    let full = match trace {
        _ if has_thread_trace(answers) => SchemaVersion::V040,
        Some(_) => SchemaVersion::V030,
        None => SchemaVersion::V020,
    };
    let version = version.unwrap_or(full);
    let times = Times::new(answers);
    // A thread trace has no times.
    let timed = trace.filter(|trace| has_run(trace));
    // Findings that only the source suggests belong to the facts about the source.
    let of_trace: Vec<Finding> = findings.iter().filter(|finding| !is_of_source(finding)).cloned().collect();
    let mut document = json!({
        "schema_version": version.text(),
        "metadata": {
            "rocpd_version": format!("wavesieve {}", env!("CARGO_PKG_VERSION")),
            "analysis_version": version.text(),
            "database_file": analysis.document.provenance.inputs.first().map(|input| &input.path),
            "analysis_timestamp": NO_TIME,
            "analysis_duration_ms": 0,
            "custom_prompt": analysis.prompt,
        },
        "profiling_info": profiling(answers, trace, &times, version),
        "summary": summary(analysis, &times, trace),
        "execution_breakdown": timed.map(|_| times.breakdown()),
        "hotspots": hotspots(answers, hotspots_shown),
        "memory_analysis": copies(answers),
        "hardware_counters": counters(answers),
        "recommendations": match (trace, &analysis.source) {
            (None, Some(tree)) => source_recommendations(&tree.scan),
            _ => Value::Array(recommendations(&of_trace, answers)),
        },
        "warnings": warnings(analysis),
        "errors": analysis.document.provenance.damage,
        "llm_enhanced_explanation": model_answer(analysis),
    });
    if let Some(fields) = document.as_object_mut() {
        if let Some(tree) = analysis.source.as_ref().filter(|_| version >= SchemaVersion::V020) {
            fields.insert("tier0".to_owned(), source_tier(&tree.scan, NO_TIME));
        }
        if version >= SchemaVersion::V030 && timed.is_some() {
            fields.insert("interval_timeline".to_owned(), times.timeline());
            fields.insert("kernel_categories".to_owned(), Value::Array(categories(answers, &times)));
            fields.insert("short_kernels".to_owned(), short_kernels(answers));
        }
        if version >= SchemaVersion::V040 && trace.is_some() {
            fields.insert("att_trace".to_owned(), thread_trace(answers));
        }
    }
    document
}

/// The text of a language model, in paragraphs, with notes about it.
fn model_answer(analysis: &Analysis) -> Value {
    let Some(section) = analysis.document.sections.iter().find(|section| section.id == MODEL_SECTION) else {
        return Value::Null;
    };
    let texts = section.notes().map(|note| note.text.as_str());
    Value::String([section.about.as_str()].into_iter().chain(texts).collect::<Vec<&str>>().join("\n\n"))
}

fn profiling(answers: &Answers, trace: Option<&Trace>, times: &Times, version: SchemaVersion) -> Value {
    let Some(trace) = trace else {
        return json!({ "total_duration_ns": 0, "profiling_mode": "source_only", "analysis_tier": 0, "gpus": [] });
    };
    let has_counters = answers.get(&QueryRequest::new("counter_summary")).is_some();
    let (mode, tier) = if version >= SchemaVersion::V040 && has_thread_trace(answers) {
        ("thread_trace", 3)
    } else if has_counters {
        ("sys_trace_with_counters", 2)
    } else {
        ("sys_trace_only", 1)
    };
    let agents = trace.members().iter().flat_map(|member| &member.process.facts.agents);
    let gpus: BTreeSet<(i64, &str, &str)> = agents
        .filter(|agent| agent.is_gpu())
        .map(|agent| (agent.agent_id, agent.name.as_str(), agent.product_name.as_deref().unwrap_or(&agent.name)))
        .collect();
    let gpus: Vec<Value> = gpus
        .into_iter()
        .map(|(id, architecture, name)| json!({ "name": name, "architecture": architecture, "agent_id": id }))
        .collect();
    json!({ "total_duration_ns": times.runtime_ns, "profiling_mode": mode, "analysis_tier": tier, "gpus": gpus })
}

/// The main limit of the run.
fn summary(analysis: &Analysis, times: &Times, trace: Option<&Trace>) -> Value {
    let answers = &analysis.answers;
    if let (None, Some(tree)) = (trace, &analysis.source) {
        return json!({
            "overall_assessment": analysis.document.summary,
            "primary_bottleneck": Limit::Unknown.word(),
            "confidence": 0.0,
            "key_findings": tree.scan.risk_areas,
        });
    }
    let verdict = analysis.verdict.unwrap_or(Verdict { limit: Limit::Unknown, confidence: 0.0 });
    // The format has no word for communication.
    let limit = if verdict.limit == Limit::Communication { Limit::Mixed } else { verdict.limit };
    json!({
        "overall_assessment": analysis.document.summary,
        "primary_bottleneck": limit.word(),
        "confidence": verdict.confidence,
        "key_findings": key_findings(answers, times, trace.is_some_and(has_run)),
    })
}

/// The main numbers; without times if none were recorded.
fn key_findings(answers: &Answers, times: &Times, has_run: bool) -> Vec<String> {
    let mut findings = Vec::new();
    if has_run {
        let kernels = QueryRequest::new("kernel_summary");
        let top = Rows::over(answers.get(&kernels)).text(0, "kernel_name").unwrap_or("N/A").to_owned();
        findings.push(format!("kernels run {:.1}% of the time", times.pct(times.compute_ns)));
        findings.push(format!("copies that nothing hides take {:.1}% of it", times.pct(times.exposed_copies_ns)));
        findings.push(format!("kernel with the most time: {top}"));
    }
    let has_counters = answers.get(&QueryRequest::new("counter_summary")).is_some();
    let counters =
        if has_counters { "hardware counters were collected" } else { "no hardware counters were collected" };
    findings.push(counters.to_owned());
    if has_thread_trace(answers) {
        findings.push("instructions were traced".to_owned());
    }
    findings
}

/// Whether there is any trace other than thread traces.
fn has_run(trace: &Trace) -> bool {
    trace.members().is_empty() || trace.members().iter().any(|member| member.process.role != Role::ThreadTrace)
}

fn warnings(analysis: &Analysis) -> Vec<Value> {
    let health = QueryRequest::new("trace_health");
    let rows = Rows::over(analysis.answers.get(&health));
    let warning = |row: usize| {
        let severity = match rows.text(row, "severity")? {
            "info" => "info",
            _ => "warning",
        };
        let text = |column: &str| rows.text(row, column).unwrap_or_default();
        let count = rows.integer(row, "count").unwrap_or_default();
        let message = format!("{} of {}: {} ({count})", text("check_id"), text("table_name"), text("detail"));
        Some(json!({ "severity": severity, "message": message, "recommendation": null }))
    };
    rows.places().filter_map(warning).collect()
}
