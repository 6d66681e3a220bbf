//! The rules of the guided analysis as Markdown, from the rule book and its queries.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use wavesieve_engine::findings::{RULES, RuleBook};

/// `docs/rules.md`.
pub(crate) fn page(book: &RuleBook) -> String {
    let mut page = String::from(include_str!("../../../templates/docs/rules.md"));
    for (id, rule) in book.iter() {
        // Writing to a String cannot fail.
        let _ = write!(page, "\n## {id}\n\n{}\n\n{}\n\n", code(&rule.title), code(&rule.explanation));
        let _ = writeln!(page, "- category: {}; confidence {:.0}%", rule.category, rule.confidence * 100.0);
        let asked: BTreeSet<String> = RULES
            .iter()
            .filter(|rule| rule.id == id)
            .flat_map(|rule| rule.questions())
            .map(|question| question.query)
            .collect();
        if !asked.is_empty() {
            let _ = writeln!(page, "- asks: {}", asked.into_iter().collect::<Vec<String>>().join(", "));
        }
        for (name, value) in &rule.thresholds {
            let _ = writeln!(page, "- `{name}` = {value}");
        }
        if !rule.source.is_empty() {
            let _ = writeln!(page, "- source of the thresholds: {}", rule.source);
        }
        for advice in &rule.advice {
            let _ = writeln!(page, "- advice: {}", code(advice));
        }
        if !rule.commands.is_empty() {
            let _ = writeln!(page, "- commands: {}", rule.commands.join(", "));
        }
    }
    page
}

/// A template as code, so that Markdown does not interpret it.
fn code(template: &str) -> String {
    let words = template.split_whitespace().collect::<Vec<&str>>().join(" ");
    format!("`` {words} ``")
}
