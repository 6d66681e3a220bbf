//! Findings as recommendations.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::names::names;
use crate::findings::{Command, Finding, duration};

/// Findings as recommendations, in their order.
pub fn recommendations(findings: &[Finding]) -> Vec<Value> {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let recommendation = |finding: &Finding| {
        let base = names().recommendation(&finding.rule, &finding.category);
        let number = numbers.entry(base.clone()).or_default();
        *number += 1;
        let impact = finding.saving.as_ref().map_or_else(
            || "N/A".to_owned(),
            |saving| {
                let time = duration(saving.gpu_time_ns as f64);
                format!("at most {time} of GPU time ({:.1} % of the GPU spans)", saving.pct_of_span)
            },
        );
        json!({
            "id": format!("{base}-{number:03}"),
            "priority": finding.priority.word().to_uppercase(),
            "category": finding.category,
            "issue": finding.title,
            "suggestion": finding.explanation,
            "actions": finding.advice,
            "estimated_impact": impact,
            "confidence": finding.confidence,
            "commands": finding.commands.iter().filter(|command| is_known(command)).map(command).collect::<Vec<Value>>(),
        })
    };
    findings.iter().map(recommendation).collect()
}

/// Whether the schema knows the tool.
fn is_known(command: &Command) -> bool {
    let tools = ["rocprofv3", "rocprof-sys-sample", "rocprof-sys-instrument", "rocprof-sys-run", "rocprof-compute"];
    tools.contains(&command.tool.as_str())
}

/// A command by its parts: options without a value are flags, those with values arguments. What follows `--` is neither.
fn command(command: &Command) -> Value {
    let mut options: Vec<(&str, Vec<&str>)> = Vec::new();
    for word in command.words.iter().skip(1).map(String::as_str).take_while(|word| *word != "--") {
        if word.starts_with('-') {
            options.push((word, Vec::new()));
        } else if let Some((_, values)) = options.last_mut() {
            values.push(word);
        }
    }
    let (flags, arguments): (Vec<_>, Vec<_>) = options.into_iter().partition(|(_, values)| values.is_empty());
    let flags: Vec<&str> = flags.into_iter().map(|(name, _)| name).collect();
    json!({
        "tool": command.tool,
        "description": command.description,
        "flags": flags,
        "args": arguments
            .into_iter()
            .map(|(name, values)| json!({ "name": name, "value": values.join(" ") }))
            .collect::<Vec<Value>>(),
        "full_command": command.line(),
    })
}
