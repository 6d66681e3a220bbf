//! Applies all rules to the answers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use minijinja::value::Value;

use super::answers::Answers;
use super::awaited::awaited_gpus;
use super::causes::put_causes_first;
use super::collected::{Collected, Profilers};
use super::finding::Finding;
use super::priority::Priority;
use super::query_request::QueryRequest;
use super::questions::{kernels, run_parts, time_question, units};
use super::recommendations::{KernelTarget, commands};
use super::rule_book::{RuleBook, RuleText};
use super::rule_context::{Observation, RuleContext, SAVING};
use super::rules::{NOTHING, OF_TRACE, RULES, Rule, nothing_stands_out};
use super::run_views::RunViews;
use super::spans::{BROKEN_SPAN, Spans};
use super::texts::{rendered, shortened};
use super::torch_profiler::torch_advice;
use crate::Registry;
use wavesieve_tables::trace::views::View;

/// Maximum length of a subject in an id.
const LONGEST_SUBJECT: usize = 80;

/// The questions that the rules and their commands ask about the whole run.
pub fn questions() -> BTreeSet<QueryRequest> {
    RULES.iter().flat_map(Rule::questions).chain(Collected::questions()).chain([time_question(), units()]).collect()
}

/// The questions that rules about repeating work also ask about the steady part, and the questions that find the steady part.
pub(crate) fn questions_of_views() -> BTreeSet<QueryRequest> {
    let asked = RULES.iter().filter(|rule| rule.repeats).flat_map(Rule::questions);
    let asked = asked.chain([time_question(), kernels()]).map(|question| question.of_view(View::Steady));
    asked.chain([run_parts()]).collect()
}

/// The findings of all rules, by priority, then by potential saving, then by id. Commands collect only what is missing. Rules about
/// repeating work judge the same view as the figures, other rules the whole run.
///
/// # Errors
/// When a text of the rule book is wrong.
pub fn judge(
    answers: &Answers,
    registry: &Registry,
    book: &RuleBook,
    collected: &Collected,
    views: &RunViews,
) -> Result<Vec<Finding>> {
    let headline = views.headline();
    let spans = [View::WholeRun, headline].map(|view| Spans::new(answers, view, book.get(BROKEN_SPAN)));
    let min_us = book.get(SAVING).and_then(|rule| rule.thresholds.get("min_us")).copied().unwrap_or_default();
    let case = |id: &'static str, repeats: bool| -> Result<RuleContext<'_>> {
        let rule = book.get(id).with_context(|| format!("internal: rule {id} has no text"))?;
        let [whole, repeating] = &spans;
        let (view, spans) = if repeats { (headline, repeating) } else { (View::WholeRun, whole) };
        let iterations = if view == View::Steady { views.iterations_of_each() } else { None };
        Ok(RuleContext {
            answers,
            registry,
            id,
            rule,
            spans,
            collected,
            view,
            headline,
            iterations,
            min_saving_ns: min_us * 1e3,
        })
    };
    let mut findings = Vec::new();
    for rule in RULES {
        let case = case(rule.id, rule.repeats)?;
        for observation in rule.observations(&case) {
            findings.extend(finding(&case, observation, views)?);
        }
    }
    if !findings.iter().any(|finding| finding.priority < Priority::Info) {
        let case = case(NOTHING, true)?;
        findings.extend(finding(&case, nothing_stands_out(&case), views)?);
    }
    let saved = |finding: &Finding| finding.saving.as_ref().map_or(0, |saving| saving.wall.whole_ns());
    // Problems of the trace itself come first among equals: they decide how far to trust the rest.
    let of_trace = |finding: &Finding| OF_TRACE.contains(&finding.rule.as_str());
    findings.sort_by_key(|finding| (finding.priority, !of_trace(finding), Reverse(saved(finding)), finding.id.clone()));
    number_equal_ids(&mut findings);
    let awaited = awaited_gpus(answers, View::WholeRun).into_iter().map(|(rank, _)| rank).collect();
    put_causes_first(&mut findings, &awaited)?;
    Ok(findings)
}

fn finding(case: &RuleContext<'_>, observation: Observation, views: &RunViews) -> Result<Option<Finding>> {
    // A finding without evidence is not reported.
    let Some(priority) = observation.priority.filter(|_| !observation.evidence.is_empty()) else { return Ok(None) };
    let (rule, text): (&str, &RuleText) = (case.id, case.rule);
    let saving = case.saving(&observation);
    let whole = |name: &str| observation.values.get(name).and_then(|value| i64::try_from(value.clone()).ok());
    let stands_out = observation.values.get("stands_out").is_some_and(Value::is_true);
    let rank = whole("worst_rank").filter(|_| stands_out).or_else(|| whole("rank"));
    let mut values = observation.values;
    values.insert("has_steady_view".to_owned(), (case.headline == View::Steady).into());
    values.insert("of_view".to_owned(), if case.view == View::Steady { "steady " } else { "" }.into());
    let only_present = case.collected.missing_ranks.map(|missing| missing.text()).unwrap_or_default();
    values.insert("only_present".to_owned(), only_present.into());
    values.insert("amd_tools".to_owned(), (case.collected.profilers == Profilers::Rocm).into());
    if let Some(subject) = &observation.subject {
        values.insert("subject".to_owned(), subject.as_str().into());
    }
    // A rule may have the same name for a share of its own.
    let mut of_verdict: BTreeMap<String, Value> = views.sentence_values().collect();
    of_verdict.insert("of_part".to_owned(), views.of_part(case.view).into());
    of_verdict.extend(values.clone());
    let of = |subject: &String| format!("{rule}:{}", shortened(subject, LONGEST_SUBJECT));
    let advice = observation.advice.iter().copied().chain(text.advice.iter().map(String::as_str));
    let advice = advice.map(|advice| rendered(advice, &values)).collect::<Result<Vec<String>>>()?;
    let target = observation.kernel.as_deref().map(|kernel| KernelTarget::named(kernel, case.collected.name));
    let wanted = || text.commands.iter().map(String::as_str).filter(|name| !observation.left_out.contains(name));
    // Advice may be for some cases only.
    let advice = advice.into_iter().filter(|advice| !advice.is_empty());
    let advice =
        advice.map(|advice| case.collected.inputs.filled(&advice)).chain(torch_advice(wanted(), case.collected));
    Ok(Some(Finding {
        id: observation.subject.as_ref().map_or_else(|| rule.to_owned(), of),
        rule: rule.to_owned(),
        priority,
        category: text.category.clone(),
        title: rendered(&text.title, &values)?,
        verdict: rendered(&text.verdict, &of_verdict)?,
        explanation: rendered(&text.explanation, &values)?,
        confidence: observation.confidence.unwrap_or(text.confidence),
        subject: observation.subject,
        rank,
        cause: None,
        view: case.view,
        saving,
        evidence: observation.evidence,
        advice: advice.collect(),
        commands: wanted().flat_map(|name| commands(name, target.as_ref(), case.collected)).collect(),
        kernel: observation.kernel,
        handoff: None,
    }))
}

/// Numbers ids that are equal because their subjects were shortened.
fn number_equal_ids(findings: &mut [Finding]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for finding in findings {
        let count = seen.entry(finding.id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            finding.id = format!("{}~{count}", finding.id);
        }
    }
}
