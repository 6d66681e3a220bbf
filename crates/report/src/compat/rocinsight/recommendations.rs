//! Findings as recommendations.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::names::names;
use super::thread_trace::stall_category;
use wavesieve_engine::findings::{Answers, Command, Finding};

/// The rule about stalls in thread traces.
const STALLS: &str = "instruction_stalls";
/// Tools that the schema knows.
const TOOLS: [&str; 5] =
    ["rocprofv3", "rocprof-sys-sample", "rocprof-sys-instrument", "rocprof-sys-run", "rocprof-compute"];

/// Findings as recommendations, in their order. If there is a trace, suggestions of the source alone are elsewhere.
pub fn recommendations(findings: &[Finding], answers: &Answers) -> Vec<Value> {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let recommendation = |finding: &Finding| {
        let (category, base) = named(finding, answers);
        let number = numbers.entry(base.clone()).or_default();
        *number += 1;
        let impact = finding.saving.map_or_else(|| "N/A".to_owned(), |saving| format!("up to {}", saving.text()));
        json!({
            "id": format!("{base}-{number:03}"),
            "priority": finding.priority.word().to_uppercase(),
            "category": category,
            "issue": finding.title,
            "suggestion": finding.explanation,
            "actions": finding.advice,
            "estimated_impact": impact,
            "confidence": finding.confidence,
            "commands": commands(&finding.commands),
        })
    };
    findings.iter().map(recommendation).collect()
}

/// Category and id, without its number, of a finding. For thread traces, they depend on the reason of the kernel's
/// stalls.
fn named(finding: &Finding, answers: &Answers) -> (String, String) {
    let stall = || names().stall(&stall_category(answers, finding.subject.as_deref())?);
    let of_rule = || names().recommendation(&finding.rule, &finding.category);
    if finding.rule == STALLS { stall().unwrap_or_else(of_rule) } else { of_rule() }
}

/// The commands of the tools that the schema knows. The description has the commands that must run before one.
fn commands(all: &[Command]) -> Vec<Value> {
    let mut before: Option<String> = None;
    let mut known = Vec::new();
    for one in all {
        if TOOLS.contains(&one.tool.as_str()) {
            known.push(command(one, before.as_deref()));
        } else {
            before = Some(one.line());
        }
    }
    known
}

/// A command by its parts: options without a value are flags, and options with values are arguments. Words after `--`
/// are neither.
fn command(command: &Command, before: Option<&str>) -> Value {
    let mut options: Vec<(&str, Vec<&str>)> = Vec::new();
    for word in command.words.iter().skip(1).map(String::as_str).take_while(|word| *word != "--") {
        if let Some((name, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
            options.push((name, vec![value]));
        } else if word.starts_with('-') {
            options.push((word, Vec::new()));
        } else if let Some((_, values)) = options.last_mut() {
            values.push(word);
        }
    }
    let (flags, arguments): (Vec<_>, Vec<_>) = options.into_iter().partition(|(_, values)| values.is_empty());
    let flags: Vec<&str> = flags.into_iter().map(|(name, _)| name).collect();
    json!({
        "tool": command.tool,
        "description": before.map_or_else(
            || command.description.clone(),
            |before| format!("{} (after `{before}`)", command.description),
        ),
        "flags": flags,
        "args": arguments
            .into_iter()
            .map(|(name, values)| json!({ "name": name, "value": values.join(" ") }))
            .collect::<Vec<Value>>(),
        "full_command": command.line(),
    })
}
