//! The verdict of a document in one sentence: `share/report/verdict.toml` and the clauses of the rules.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use minijinja::value::Value;
use serde::Deserialize;

use super::finding::Finding;
use super::priority::Priority;
use super::rules::OF_TRACE;
use super::run_views::RunViews;
use super::texts::rendered;

const SENTENCES: &str = data!("share/report/verdict.toml");

/// Templates of clauses.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sentences {
    saving: String,
    small: String,
    nothing: String,
    idle: String,
    no_work: String,
    idle_pct: f64,
    #[serde(rename = "source")]
    _source: String,
}

fn is_of_trace(finding: &Finding) -> bool {
    OF_TRACE.contains(&finding.rule.as_str())
}

/// The finding that the verdict is about.
pub fn headline_finding(findings: &[Finding]) -> Option<&Finding> {
    findings.iter().find(|finding| finding.priority < Priority::Info && !is_of_trace(finding))
}

/// The verdict about findings in their order, and the views that they are about: one sentence.
///
/// # Errors
/// When the file of the binary is wrong, which the tests exclude.
pub fn headline(findings: &[Finding], views: &RunViews) -> Result<String> {
    let sentences: Sentences = toml::from_str(SENTENCES).context("internal: the templates of verdicts are wrong")?;
    let mut values: BTreeMap<String, Value> = views.sentence_values().collect();
    values.insert("of_part".to_owned(), views.of_part(views.headline()).into());
    let first = headline_finding(findings);
    let clause = first.map(|first| with_saving(first, &sentences)).transpose()?;
    let idle_pct = views.all().first().and_then(|view| view.share("idle_pct"));
    let is_idle = idle_pct.is_some_and(|pct| pct > sentences.idle_pct);
    let is_small = first.is_none_or(|first| first.priority == Priority::Low);
    let template = match &clause {
        // A thread trace alone has findings and no run.
        Some(_) if !is_small || views.all().is_empty() => "{{ clause }}",
        None if views.all().is_empty() => &sentences.no_work,
        _ if is_idle => &sentences.idle,
        Some(_) => &sentences.small,
        None => &sentences.nothing,
    };
    values.insert("clause".to_owned(), clause.into());
    let wrong = findings.iter().filter(|finding| is_of_trace(finding) && finding.priority == Priority::High);
    let clauses: Vec<String> = wrong.map(clause_of).chain([rendered(template, &values)?]).collect();
    Ok(format!("{}.", capitalized(&clauses.join("; "))))
}

/// Clauses of findings that make numbers less certain, and that the verdict leaves out: missing ranks, unreliable durations.
pub fn caveats(findings: &[Finding]) -> impl Iterator<Item = String> {
    let is_meant = |finding: &&Finding| is_of_trace(finding) && finding.priority > Priority::High;
    findings.iter().filter(is_meant).filter(|finding| !finding.verdict.is_empty()).map(clause_of)
}

fn clause_of(finding: &Finding) -> String {
    if finding.verdict.is_empty() { finding.title.clone() } else { finding.verdict.clone() }
}

/// The clause of a finding, and what it could save.
fn with_saving(finding: &Finding, sentences: &Sentences) -> Result<String> {
    let clause = clause_of(finding);
    let Some(saving) = &finding.saving else { return Ok(clause) };
    let values = BTreeMap::from([("wall".to_owned(), Value::from(saving.wall.text()))]);
    Ok(format!("{clause}; {}", rendered(&sentences.saving, &values)?))
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{RULES, RuleBook};

    #[test]
    fn every_rule_that_may_come_first_has_a_clause() {
        let book = RuleBook::builtin().unwrap();
        // These are never more than information.
        let not_first = ["full_queue", "start_up", "trace_warnings", "work_outside_ranges"];
        for rule in RULES {
            let verdict = &book.get(rule.id).unwrap().verdict;
            assert_eq!(verdict.is_empty(), not_first.contains(&rule.id), "{}: {verdict}", rule.id);
            assert!(!verdict.starts_with(char::is_uppercase) && !verdict.ends_with('.'), "{}: {verdict}", rule.id);
        }
    }

    #[test]
    fn without_gpu_work_there_is_little_to_say() {
        assert_eq!(headline(&[], &RunViews::default()).unwrap(), "No GPU work was found.");
    }
}
