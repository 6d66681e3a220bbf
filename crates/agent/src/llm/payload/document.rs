//! A document in the form that is sent.

use serde_json::{Map, Value, json};

use super::cells::{masked, number, table, value};
use super::commands::without_program;
use super::level::Share;
use super::scan::scan;
use super::source::source;
use crate::llm::redaction::TokenMap;
use wavesieve_engine::findings::{Evidence, Finding, Priority};
use wavesieve_report::analysis::Analysis;
use wavesieve_report::document::{Block, Section};

const MOST_FINDINGS: usize = 20;
const MOST_EVIDENCE: usize = 2;
const MOST_TABLES: usize = 24;

/// The data of an analysis to send at a level. Redacted texts are added to the names.
pub fn payload(analysis: &Analysis, share: Share, names: &mut TokenMap) -> Value {
    let document = &analysis.document;
    let figures: Vec<Value> = document
        .figures
        .iter()
        .map(|figure| {
            let shown = value(&figure.value, &figure.id, figure.unit, share, names);
            json!({ "id": figure.id, "label": figure.label, "value": shown, "unit": figure.unit.word() })
        })
        .collect();
    let views: Vec<Value> =
        document.views.all().iter().map(|view| json!({ "id": view.id, "text": view.line() })).collect();
    let findings: Vec<Value> =
        document.findings.iter().take(MOST_FINDINGS).map(|one| finding(one, share, names)).collect();
    let mut tables = Vec::new();
    for section in &document.sections {
        if !section.id.starts_with("source_") || share == Share::Source {
            add_tables(section, share, names, &mut tables);
        }
    }
    let gpus: Vec<&String> = document.provenance.inputs.iter().flat_map(|input| &input.gpus).collect();
    let mut architectures: Vec<&str> =
        gpus.into_iter().map(String::as_str).filter(|name| is_architecture(name)).collect();
    architectures.sort_unstable();
    architectures.dedup();
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("depth", Value::from(document.tier));
    put("gpus", json!(architectures));
    put("figures", Value::Array(figures));
    put("views", Value::Array(views));
    put("findings", Value::Array(findings));
    put("tables", Value::Array(tables));
    if share >= Share::Names {
        put("summary", Value::String(document.summary.clone()));
        put("notes", document.notes.iter().map(|note| Value::String(note.text.clone())).collect());
    }
    // With a trace, the findings already have the relevant parts of the source.
    if let Some(tree) = analysis.source.as_ref().filter(|_| document.tier == 0) {
        put("scan", scan(&tree.scan, share, names));
    }
    if let Some(tree) = analysis.source.as_ref().filter(|_| share == Share::Source) {
        put("source", source(&tree.scan));
    }
    Value::Object(fields)
}

/// Returns whether a GPU name is just its architecture.
fn is_architecture(name: &str) -> bool {
    name.strip_prefix("gfx")
        .is_some_and(|rest| (3..=6).contains(&rest.len()) && rest.chars().all(|letter| letter.is_ascii_hexdigit()))
}

fn finding(finding: &Finding, share: Share, names: &mut TokenMap) -> Value {
    let priority = match finding.priority {
        Priority::High => "high",
        Priority::Medium => "medium",
        Priority::Low => "low",
        Priority::Info => "info",
    };
    let subject = finding.subject.as_ref().map(|subject| match share {
        Share::Figures => masked(subject, "NAME", names),
        _ => subject.clone(),
    });
    let shown: Vec<Value> =
        finding.evidence.iter().take(MOST_EVIDENCE).map(|one| evidence(one, share, names)).collect();
    let mut value = json!({
        "id": if share == Share::Figures { &finding.rule } else { &finding.id },
        "priority": priority,
        "confidence_pct": number(finding.confidence * 100.0),
        "subject": subject,
        "saving": finding.saving.as_ref().map(|saving| json!({
            "wall_ns_of_a_gpu": saving.wall.wall_ns,
            "of_ns": saving.wall.unit_ns,
            "is_per_iteration": saving.wall.iterations.is_some(),
            "pct_of_gpu_time": number(saving.pct_of_span),
        })),
        "evidence": shown,
    });
    if let Some(fields) = value.as_object_mut().filter(|_| share >= Share::Names) {
        fields.insert("title".to_owned(), Value::String(finding.title.clone()));
        fields.insert("explanation".to_owned(), Value::String(finding.explanation.clone()));
        fields.insert("advice".to_owned(), json!(finding.advice));
        let commands: Vec<String> = finding.commands.iter().map(|command| without_program(&command.words)).collect();
        fields.insert("commands".to_owned(), json!(commands));
    }
    value
}

fn evidence(evidence: &Evidence, share: Share, names: &mut TokenMap) -> Value {
    let mut value = table(&evidence.frame, &evidence.columns, evidence.rows, share, names);
    if let Some(fields) = value.as_object_mut() {
        fields.insert("query".to_owned(), Value::String(evidence.question.query.clone()));
    }
    value
}

fn add_tables(section: &Section, share: Share, names: &mut TokenMap, tables: &mut Vec<Value>) {
    for block in &section.blocks {
        let Block::Table(shown) = block else { continue };
        if tables.len() >= MOST_TABLES {
            return;
        }
        let mut value = table(&shown.frame, &shown.columns, shown.total_rows, share, names);
        if let Some(fields) = value.as_object_mut() {
            fields.insert("id".to_owned(), Value::String(shown.id.clone()));
            fields.insert("section".to_owned(), Value::String(section.id.clone()));
        }
        tables.push(value);
    }
}
