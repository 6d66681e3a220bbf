//! Puts all rules to the answers.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use anyhow::{Context, Result};

use super::answers::Answers;
use super::case::{Case, Observation, Rows};
use super::finding::Finding;
use super::question::Question;
use super::rule_book::{RuleBook, RuleText};
use super::rules::{RULES, time_question};
use super::texts::rendered;
use crate::engine::Registry;

/// The questions that the rules ask.
pub fn questions() -> BTreeSet<Question> {
    RULES.iter().flat_map(|rule| (rule.asks)()).chain([time_question()]).collect()
}

/// What the rules find in the answers: what matters most first, of equals what could save most, then by id.
///
/// # Errors
/// When a text of the rule book is wrong.
pub fn judge(answers: &Answers, registry: &Registry, book: &RuleBook) -> Result<Vec<Finding>> {
    let time = time_question();
    let rows = Rows::over(answers.get(&time));
    let spans_ns = rows.sum(rows.places(), "span_ns");
    let mut findings = Vec::new();
    for rule in RULES {
        let text = book.get(rule.id).with_context(|| format!("internal: rule {} has no text", rule.id))?;
        let case = Case { answers, registry, rule: text, spans_ns };
        for observation in (rule.judge)(&case) {
            findings.extend(finding(rule.id, text, &case, observation)?);
        }
    }
    let saved = |finding: &Finding| finding.saving.as_ref().map_or(0, |saving| saving.gpu_time_ns);
    findings.sort_by_key(|finding| (finding.priority, Reverse(saved(finding)), finding.id.clone()));
    Ok(findings)
}

fn finding(rule: &str, text: &RuleText, case: &Case<'_>, observation: Observation) -> Result<Option<Finding>> {
    // What no row shows is not said.
    let Some(priority) = observation.priority.filter(|_| !observation.evidence.is_empty()) else { return Ok(None) };
    let mut values = observation.values;
    let saving = observation.saving_ns.map(|gpu_time_ns| case.saving(gpu_time_ns));
    if let Some(saving) = &saving {
        values.insert("saving_ns".to_owned(), saving.gpu_time_ns.into());
        values.insert("saving_pct".to_owned(), saving.pct_of_span.into());
    }
    if let Some(subject) = &observation.subject {
        values.insert("subject".to_owned(), subject.as_str().into());
    }
    let id = observation.subject.as_ref().map_or_else(|| rule.to_owned(), |subject| format!("{rule}:{subject}"));
    Ok(Some(Finding {
        id,
        rule: rule.to_owned(),
        priority,
        category: text.category.clone(),
        title: rendered(&text.title, &values)?,
        explanation: rendered(&text.explanation, &values)?,
        confidence: observation.confidence.unwrap_or(text.confidence),
        subject: observation.subject,
        saving,
        evidence: observation.evidence,
        advice: text.advice.iter().map(|advice| rendered(advice, &values)).collect::<Result<_>>()?,
        commands: Vec::new(),
    }))
}
