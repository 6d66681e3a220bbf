//! Writes a document as JSON.

use std::io::Write;

use anyhow::Result;
use polars::prelude::DataFrame;
use serde_json::{Map, Value, json};

use crate::document::{Document, Section, Table};
use wavesieve_engine::findings::{Command, Evidence, Finding, Handoff, OfferedUnit, QueryRequest, RunView, UnitOfWork};
use wavesieve_export::cell::Cell;
use wavesieve_tables::trace::views::View;

/// Version of the schema: the first number changes when something is taken away or means something else.
pub const SCHEMA_VERSION: &str = "1.4";

pub const SCHEMA: &str = data!("share/schemas/document.json");

/// Writes the document as one JSON object, indented.
///
/// # Errors
/// When writing fails.
pub fn write(document: &Document, out: &mut dyn Write) -> Result<()> {
    serde_json::to_writer_pretty(&mut *out, &value(document))?;
    writeln!(out)?;
    Ok(())
}

/// The document as a JSON object.
pub fn value(document: &Document) -> Value {
    json!({
        "schema": "wavesieve-document",
        "schema_version": SCHEMA_VERSION,
        "title": document.title,
        "summary": document.summary,
        "views": document.views.all().iter().map(view).collect::<Vec<Value>>(),
        "unit_of_work": document.views.unit().map(unit_of_work),
        "notes": document.notes,
        "tier": document.tier,
        "figures": document.figures,
        "findings": document.findings.iter().map(finding).collect::<Vec<Value>>(),
        "sections": document.sections.iter().map(section).collect::<Vec<Value>>(),
        "provenance": provenance(document),
    })
}

/// How the GPUs spent the time of a view of the run.
pub fn view(view: &RunView) -> Value {
    let shares = view.shares.iter().map(|(id, pct)| ((*id).to_owned(), json!(pct)));
    json!({
        "id": view.id,
        "label": view.label,
        "text": view.line(),
        "span_ns": view.span_ns,
        "shares": shares.collect::<Map<String, Value>>(),
        "units": view.units.map(|units| json!({
            "unit": units.unit,
            "found_by": units.found_by,
            "found": units.found,
            "of_each": units.of_each,
            "prefills": units.prefills,
            "layers": units.layers,
        })),
        "iterations": view.iterations.map(|iterations| json!({
            "unit": iterations.unit,
            "chosen": iterations.chosen,
            "found": iterations.found,
            "processes": iterations.processes,
            "processes_without": iterations.processes_without,
            "mean_ns": iterations.mean_ns,
        })),
        "parts": view.parts.iter().map(|(kind, duration_ns, pct)| json!({
            "kind": kind,
            "duration_ns": duration_ns,
            "pct": pct,
        })).collect::<Vec<Value>>(),
    })
}

/// The unit of work with its evidence, and others that can be chosen.
pub fn unit_of_work(unit: &UnitOfWork) -> Value {
    let offered = |offered: &OfferedUnit| {
        json!({
            "unit": offered.unit,
            "name": offered.name,
            "found_by": offered.found_by,
            "count": offered.count,
            "covered_pct": offered.covered_pct,
            "confidence": offered.confidence,
            "option": offered.option,
        })
    };
    json!({
        "text": unit.line(),
        "chosen": unit.chosen.as_ref().map(offered),
        "others": unit.others.iter().map(offered).collect::<Vec<Value>>(),
    })
}

fn view_word(view: View) -> &'static str {
    match view {
        View::WholeRun => "whole_run",
        View::Steady => "steady",
    }
}

fn finding(finding: &Finding) -> Value {
    let saving = finding.saving.as_ref();
    json!({
        "id": finding.id,
        "rule": finding.rule,
        "priority": finding.priority,
        "category": finding.category,
        "title": finding.title,
        "explanation": finding.explanation,
        "confidence": finding.confidence,
        "subject": finding.subject,
        "rank": finding.rank,
        "cause": finding.cause,
        "view": view_word(finding.view),
        "saving": saving.map(|saving| json!({
            "wall_ns": saving.wall.wall_ns,
            "unit_ns": saving.wall.unit_ns,
            "iterations": saving.wall.iterations,
            "pct_of_span": saving.pct_of_span,
            "gpu_time_ns": saving.gpu_time_ns,
        })),
        "evidence": finding.evidence.iter().map(evidence).collect::<Vec<Value>>(),
        "advice": finding.advice,
        "commands": finding.commands.iter().map(|command| json!({
            "tool": command.tool,
            "description": command.description,
            "words": command.words,
            "line": command.line(),
        })).collect::<Vec<Value>>(),
        "handoff": finding.handoff.as_ref().map(handoff),
    })
}

fn handoff(handoff: &Handoff) -> Value {
    let dispatch = handoff.dispatch.as_ref();
    let mut fields = json!({
        "about": handoff.about,
        "kernel": dispatch.map(|dispatch| &dispatch.kernel),
        "rank": handoff.rank,
        "gpu": dispatch.and_then(|dispatch| dispatch.gpu),
        "dispatch_id": dispatch.map(|dispatch| dispatch.dispatch_id),
        "dispatch": dispatch.map(|dispatch| dispatch.number),
        "dispatches": dispatch.map(|dispatch| dispatch.dispatches),
        "start_ns": dispatch.map(|dispatch| dispatch.start_ns),
        "end_ns": dispatch.map(|dispatch| dispatch.end_ns),
    });
    for (kind, commands) in &handoff.kinds {
        let lines = |commands: &Vec<Command>| commands.iter().map(Command::line).collect::<Vec<String>>();
        if let Some(fields) = fields.as_object_mut() {
            fields.insert(kind.column().to_owned(), json!(commands.as_ref().map(lines).unwrap_or_default()));
        }
    }
    fields
}

fn evidence(evidence: &Evidence) -> Value {
    let rows: Vec<Value> =
        (0..evidence.frame.height()).map(|row| Value::Object(record(&evidence.frame, row))).collect();
    json!({
        "title": evidence.title,
        "question": question(&evidence.question, Some(&evidence.command)),
        "columns": evidence.columns,
        "rows": rows,
        "total_rows": evidence.rows,
    })
}

fn section(section: &Section) -> Value {
    json!({
        "id": section.id,
        "title": section.title,
        "about": section.about,
        "tables": section.tables().map(table).collect::<Vec<Value>>(),
        "notes": section.notes().collect::<Vec<_>>(),
    })
}

fn table(table: &Table) -> Value {
    let keys = table.row_keys().into_iter().enumerate();
    let rows = keys.map(|(row, key)| json!({ "key": key, "values": record(&table.frame, row) }));
    json!({
        "id": table.id,
        "title": table.title,
        "about": table.about,
        "question": table.question.as_ref().map(|asked| question(asked, table.command.as_deref())),
        "columns": table.columns,
        "rows": rows.collect::<Vec<Value>>(),
        "total_rows": table.total_rows,
    })
}

fn question(question: &QueryRequest, command: Option<&str>) -> Value {
    json!({
        "query": question.query,
        "by": question.by,
        "parameters": question.parameters,
        "command": command,
    })
}

fn record(frame: &DataFrame, row: usize) -> Map<String, Value> {
    frame.columns().iter().map(|column| (column.name().to_string(), Cell::new(column, row).json())).collect()
}

fn provenance(document: &Document) -> Value {
    let provenance = &document.provenance;
    let pairs = |pairs: &[(String, String)], name: &str| -> Vec<Value> {
        pairs.iter().map(|(subject, reason)| json!({ name: subject, "reason": reason })).collect()
    };
    json!({
        "program": "wavesieve",
        "version": provenance.version,
        "inputs": provenance.inputs,
        "processes": provenance.processes,
        "ranks": provenance.ranks,
        "filters": provenance.filters.iter().map(|(option, value)| json!({ "option": option, "value": value })).collect::<Vec<Value>>(),
        "damage": provenance.damage,
        "left_out": pairs(&provenance.left_out, "section"),
        "failures": pairs(&provenance.failures, "query"),
    })
}
