//! `analyze` and `findings`: the findings of the rules in a trace, in short and with evidence.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Toolbox, begin, command_line};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::arguments::{FilterTexts, Texts, name_form, parsed};
use crate::mcp::conclusion::add_damage;
use crate::mcp::failure::ToolFailure;
use wavesieve_engine::NameForm;
use wavesieve_engine::findings::{Priority, RuleBook};
use wavesieve_report::analysis::AnalysisOptions;
use wavesieve_report::json;
use wavesieve_tables::trace::Trace;

/// Fields of a finding in the list; `findings` has all.
const LISTED: [&str; 9] =
    ["id", "priority", "category", "title", "subject", "saving", "confidence", "advice", "explanation"];
/// Rows of tables in the analysis. Answers show as many as requested.
const ROWS: usize = 50;

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Arguments {
    inputs: Texts,
    filters: FilterTexts,
    name: Option<String>,
    /// Sections to show with their tables.
    sections: Texts,
    rows: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FindingArguments {
    inputs: Texts,
    filters: FilterTexts,
    name: Option<String>,
    ids: Texts,
    priority: Texts,
    category: Texts,
    rows: Option<usize>,
}

/// A finished analysis, as JSON.
pub(in crate::mcp) struct Analyzed {
    trace: Arc<Trace>,
    name: &'static str,
    document: Value,
    unmatched: Vec<String>,
    is_empty: bool,
}

pub(super) fn analyze(tools: &mut Toolbox<'_>, arguments: Map<String, Value>) -> Result<ToolAnswer, ToolFailure> {
    let arguments: Arguments = parsed(arguments)?;
    let rows = tools.rows(arguments.rows);
    let (mut answer, document) = analyzed(tools, &arguments.inputs, &arguments.filters, arguments.name.as_deref())?;
    for field in ["title", "summary"] {
        answer.set(field, document.get(field).cloned().unwrap_or_default());
    }
    for field in ["figures", "views", "notes"] {
        let value = document.get(field).cloned().unwrap_or_default();
        answer.set_document(if field == "notes" { "document_notes" } else { field }, value, rows);
    }
    let findings = elements(&document, "findings").map(|finding| only(finding, &LISTED));
    answer.set_document("findings", findings.collect(), rows);
    let wanted = arguments.sections.words();
    let sections: Vec<&Value> = elements(&document, "sections").collect();
    let known: Vec<&str> = sections.iter().filter_map(|section| text(section, "id")).collect();
    if let Some(unknown) = wanted.iter().find(|id| !known.contains(&id.as_str())) {
        let reason = format!("no section {unknown} in this analysis; choose from {}", known.join(", "));
        return Err(ToolFailure::usage(reason));
    }
    let is_wanted = |section: &Value| text(section, "id").is_some_and(|id| wanted.iter().any(|wanted| wanted == id));
    let shown = sections.iter().map(|section| if is_wanted(section) { (*section).clone() } else { in_short(section) });
    answer.set_document("sections", shown.collect(), rows);
    Ok(answer)
}

pub(super) fn findings(tools: &mut Toolbox<'_>, arguments: Map<String, Value>) -> Result<ToolAnswer, ToolFailure> {
    let arguments: FindingArguments = parsed(arguments)?;
    let rows = tools.rows(arguments.rows);
    let (priorities, categories) = (arguments.priority.words(), arguments.category.words());
    let rules = RuleBook::builtin().map_err(anyhow::Error::from)?;
    let known_categories: Vec<&str> = rules.categories().into_iter().collect();
    check_words("priority", &priorities, &Priority::ALL.map(Priority::word))?;
    check_words("category", &categories, &known_categories)?;
    let (mut answer, document) = analyzed(tools, &arguments.inputs, &arguments.filters, arguments.name.as_deref())?;
    let all: Vec<&Value> = elements(&document, "findings").collect();
    let ids = arguments.ids.list();
    let known: Vec<&str> =
        all.iter().flat_map(|finding| [text(finding, "id"), text(finding, "rule")]).flatten().collect();
    if let Some(unknown) = ids.iter().find(|id| !known.contains(&id.as_str())) {
        // Ids contain names, which a masked call must not see.
        let field = if tools.behind.is_some() { "rule" } else { "id" };
        let listed: Vec<&str> = all.iter().filter_map(|finding| text(finding, field)).collect();
        let reason = format!("no finding {unknown} in this trace; it has {}", listed.join(", "));
        return Err(ToolFailure::usage(reason));
    }
    let is = |finding: &Value, fields: &[&str], wanted: &[String]| {
        let has = |wanted: &String| {
            fields.iter().any(|field| text(finding, field).is_some_and(|own| own.eq_ignore_ascii_case(wanted)))
        };
        wanted.is_empty() || wanted.iter().any(has)
    };
    let chosen = all.iter().filter(|finding| {
        is(finding, &["id", "rule"], ids)
            && is(finding, &["priority"], &priorities)
            && is(finding, &["category"], &categories)
    });
    let chosen: Vec<Value> = chosen.map(|finding| (*finding).clone()).collect();
    answer.set("found", all.len());
    if chosen.is_empty() {
        answer.note("no finding of this kind: the rules found nothing that crosses their thresholds");
    }
    answer.set_document("findings", Value::Array(chosen), rows);
    Ok(answer)
}

/// Rejects a word that no finding can have: an empty result would look like an all-clear.
fn check_words(name: &str, words: &[String], known: &[&str]) -> Result<(), ToolFailure> {
    let is_known = |word: &&String| known.iter().any(|known| known.eq_ignore_ascii_case(word));
    match words.iter().find(|word| !is_known(word)) {
        Some(word) => Err(ToolFailure::usage(format!("invalid {name} `{word}`: choose from {}", known.join(", ")))),
        None => Ok(()),
    }
}

/// A new answer, and the document of the analysis.
fn analyzed(
    tools: &mut Toolbox<'_>,
    inputs: &Texts,
    filters: &FilterTexts,
    name: Option<&str>,
) -> Result<(ToolAnswer, Value), ToolFailure> {
    let name = name_form(name)?;
    let (trace, inputs) = tools.open(inputs, filters, None)?;
    let is_same = |known: &Analyzed| Arc::ptr_eq(&known.trace, &trace) && known.name == name.word();
    let known = match tools.analyzed.take().filter(is_same) {
        Some(known) => known,
        None => {
            let registry = tools.options.registry.clone();
            let options = AnalysisOptions { registry, name, rows: ROWS, ..AnalysisOptions::builtin()? };
            let analysis = options.analyze(&trace)?;
            Analyzed {
                trace: Arc::clone(&trace),
                name: name.word(),
                document: json::value(&analysis.document),
                unmatched: analysis.unmatched,
                is_empty: analysis.is_empty,
            }
        }
    };
    let is_usual = name == NameForm::default();
    let words = if is_usual { Vec::new() } else { vec!["--name".to_owned(), name.word().to_owned()] };
    let mut answer = begin(command_line(&["analyze"], &inputs, &words, Some(&trace)));
    for sentence in &known.unmatched {
        answer.note(format!("no match: {sentence}"));
    }
    let is_damaged = add_damage(&mut answer, &trace);
    let has_figures = elements(&known.document, "figures").next().is_some();
    if known.is_empty && !is_damaged {
        answer.abstain(known.unmatched.join("; "));
    } else if !has_figures && elements(&known.document, "findings").next().is_none() {
        let summary = text(&known.document, "summary").unwrap_or_default();
        answer.abstain(format!("there is nothing to analyze: {summary}"));
    }
    let document = known.document.clone();
    tools.analyzed = Some(known);
    Ok((answer, document))
}

/// A section without its rows.
fn in_short(section: &Value) -> Value {
    let tables = elements(section, "tables").map(|table| only(table, &["id", "title", "total_rows"]));
    json!({ "id": section.get("id"), "title": section.get("title"), "tables": tables.collect::<Value>() })
}

fn only(value: &Value, names: &[&str]) -> Value {
    let fields = names.iter().filter_map(|name| Some(((*name).to_owned(), value.get(name)?.clone())));
    Value::Object(fields.collect())
}

fn elements<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}
