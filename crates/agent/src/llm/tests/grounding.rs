//! Answers with planted errors: found and missed errors, and false alarms.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::privacy::analysis;
use crate::llm::grounding::Grounding;
use wavesieve_engine::Registry;
use wavesieve_export::cell::Cell;
use wavesieve_report::document::{Block, Document, Table};

/// A figure as displayed in the document.
fn shown(document: &Document, id: &str) -> String {
    document.figures.iter().find(|figure| figure.id == id).unwrap().shown()
}

fn table<'a>(document: &'a Document, id: &str) -> &'a Table {
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    let mut tables = blocks.filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    tables.find(|table| table.id == id).unwrap()
}

/// A cell of a table, numbers with one decimal.
fn cell(document: &Document, id: &str, column: &str, row: usize) -> String {
    match Cell::new(table(document, id).frame.column(column).unwrap(), row) {
        Cell::Text(text) => text,
        Cell::Integer(value) => value.to_string(),
        Cell::Float(value) => format!("{value:.1}"),
        other => panic!("{other:?}"),
    }
}

/// The answer with values in place of braces: `figure`, or `table.column.row`.
fn filled(document: &Document, answer: &str) -> String {
    let mut parts = answer.split('{');
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap();
        match name.split('.').collect::<Vec<_>>()[..] {
            [id, column, row] => write!(text, "{}{rest}", cell(document, id, column, row.parse().unwrap())).unwrap(),
            _ => write!(text, "{}{rest}", shown(document, name)).unwrap(),
        }
    }
    text
}

/// Answers by class, each with its errors.
const ANSWERS: &str = include_str!("grounding.toml");

type Answers = BTreeMap<String, Vec<String>>;

/// The number of errors that were found, the errors that were missed, and the false alarms.
fn compared(document: &Document, answers: &Answers) -> (usize, Vec<String>, Vec<String>) {
    let registry = Registry::builtin().unwrap();
    let own = |words: &[String]| words.iter().any(|word| word == "nonsense").then(|| "unknown command".to_owned());
    let grounding = Grounding::new(document, &registry, &own);
    let (mut found, mut missed, mut false_alarms) = (0, Vec::new(), Vec::new());
    for (answer, wrong) in answers {
        let text = filled(document, answer);
        let paragraphs: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
        let checked = grounding.check(&paragraphs);
        for flaw in wrong {
            match checked.missing.iter().any(|missing| missing.contains(flaw)) {
                true => found += 1,
                false => missed.push(format!("{answer}: {flaw}")),
            }
        }
        let is_planted = |missing: &&String| wrong.iter().any(|flaw| missing.contains(flaw));
        let for_nothing = checked.missing.iter().filter(|missing| !is_planted(missing));
        false_alarms.extend(for_nothing.map(|missing| format!("{answer}: {missing}")));
        assert_eq!(checked.paragraphs.join("\n").matches(" [?]").count() > 0, !checked.missing.is_empty(), "{text}");
    }
    (found, missed, false_alarms)
}

#[test]
fn planted_errors_are_found() {
    let analysis = analysis("two_nodes");
    let classes: BTreeMap<String, Answers> = toml::from_str(ANSWERS).unwrap();
    for (class, answers) in &classes {
        let planted: usize = answers.values().map(Vec::len).sum();
        let (found, missed, false_alarms) = compared(&analysis.document, answers);
        println!("{class}: {found} of {planted} found, {} false alarms", false_alarms.len());
        let none = Vec::<String>::new();
        assert_eq!((found, &missed, &false_alarms), (planted, &none, &none), "{class}");
    }
}

#[test]
fn what_the_document_says_is_grounded_in_it() {
    for fixture in ["two_nodes", "planted", "counters", "compute"] {
        let analysis = analysis(fixture);
        let document = &analysis.document;
        let registry = Registry::builtin().unwrap();
        let grounding = Grounding::new(document, &registry, &|_| None);
        let texts = document.findings.iter().flat_map(|finding| {
            let commands = finding.commands.iter().map(|command| format!("Run `{}`.", command.words.join(" ")));
            [finding.title.clone(), finding.explanation.clone()]
                .into_iter()
                .chain(finding.advice.clone())
                .chain(commands)
        });
        let texts: Vec<String> = texts.chain(document.views.all().iter().map(|view| view.line())).collect();
        assert_eq!(grounding.check(&texts).missing, Vec::<String>::new(), "{fixture}");
    }
}

#[test]
fn a_name_is_marked_once_behind_its_brackets() {
    let analysis = analysis("two_nodes");
    let registry = Registry::builtin().unwrap();
    let grounding = Grounding::new(&analysis.document, &registry, &|_| None);
    let text = "Of ncclDevKernel_Nosuch_1(ncclDevNosuchArgs<4096ul, 77>) all wait.";
    let checked = grounding.check(&[text.to_owned()]);
    assert_eq!(checked.paragraphs, [text.replace(") all", ") [?] all")]);
    assert_eq!(checked.missing.len(), 1);
}
