//! The layout of questions.

use unicode_width::UnicodeWidthStr;

use super::plain::plain;
use super::question::{Choice, Question};
use super::wrap::wrapped;

/// Limits for choices in the line of the question: their number, and the total characters of their labels.
const INLINE_CHOICES: usize = 4;
const INLINE_CHARACTERS: usize = 60;
/// Columns reserved for the answer.
const ROOM: usize = 10;

/// A question on the screen: lines, and the text before the answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Prompt {
    pub lines: Vec<String>,
    pub before_answer: String,
}

pub(super) fn prompt(question: &Question, width: Option<usize>) -> Prompt {
    let default = question.default.as_deref().map(plain).filter(|default| !default.is_empty());
    let mut texts: Vec<String> = question.text.lines().map(plain).collect();
    let choices = shown(&question.choices);
    let characters: usize = choices.iter().map(|choice| choice.label.chars().count() + choice.key.len()).sum();
    let is_inline = choices.len() <= INLINE_CHOICES && characters <= INLINE_CHARACTERS;
    if !is_inline {
        let keys = choices.iter().map(|choice| choice.key.chars().count()).max().unwrap_or(0);
        let mut lines: Vec<String> = texts.iter().flat_map(|text| wrapped(text, width, 2)).collect();
        for choice in &choices {
            let key = plain(&choice.key);
            let blanks = " ".repeat(keys.saturating_sub(key.chars().count()));
            lines.extend(listed(&format!("  {blanks}{key}  "), &plain(&choice.label), width));
        }
        let enter = default.map(|default| format!(" (Enter: {default})")).unwrap_or_default();
        return Prompt { lines, before_answer: format!("Choice{enter}: ") };
    }
    let last = texts.pop().unwrap_or_default();
    let lines: Vec<String> = texts.iter().flat_map(|text| wrapped(text, width, 2)).collect();
    let choices = choices.iter().map(|choice| format!("[{}] {}", plain(&choice.key), plain(&choice.label)));
    let choices = choices.collect::<Vec<_>>().join(", ");
    let enter = match (&default, question.choices.is_empty()) {
        (None, _) => String::new(),
        (Some(default), true) => format!(" [{default}]"),
        (Some(default), false) => format!(" (Enter: {default})"),
    };
    let gap = if choices.is_empty() { "" } else { " " };
    let until = if question.is_long { " (end with an empty line)" } else { "" };
    let end =
        if last.ends_with(['?', ':']) && (enter.is_empty() && until.is_empty() && gap.is_empty()) { " " } else { ": " };
    let last = if end == " " { last } else { last.trim_end_matches(':').to_owned() };
    let before_answer = format!("{last}{gap}{choices}{enter}{until}{end}");
    let is_wide = width.is_some_and(|width| before_answer.width() + ROOM > width);
    if is_wide && !choices.is_empty() {
        // A terminal would break words, so the question gets separate lines.
        let mut lines = lines;
        lines.extend(wrapped(&last, width, 2));
        return Prompt { lines, before_answer: format!("{choices}{enter}{end}") };
    }
    Prompt { lines, before_answer }
}

/// Choices for display: consecutive numbers that do the same are merged.
fn shown(choices: &[Choice]) -> Vec<Choice> {
    let mut shown: Vec<Choice> = Vec::new();
    let mut first: Option<u32> = None;
    let mut last: Option<u32> = None;
    for choice in choices {
        let number = choice.key.parse::<u32>().ok();
        let follows = number.is_some() && last.map(|last| last + 1) == number;
        match shown.last_mut() {
            Some(one) if follows && one.label == choice.label => {
                one.key = format!("{}–{}", first.unwrap_or_default(), number.unwrap_or_default());
            }
            _ => {
                first = number;
                shown.push(choice.clone());
            }
        }
        last = number;
    }
    shown
}

/// A choice in a list: later lines are aligned with its label.
fn listed(key: &str, label: &str, width: Option<usize>) -> Vec<String> {
    let indent = key.chars().count();
    let inner = width.map(|width| width.saturating_sub(indent));
    let lines = wrapped(label, inner, 0).into_iter().enumerate();
    lines
        .map(|(place, line)| if place == 0 { format!("{key}{line}") } else { format!("{}{line}", " ".repeat(indent)) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(text: &str, choices: &[(&str, &str)], default: Option<&str>) -> Question {
        let choices = choices.iter().map(|(key, label)| Choice::new(*key, *label)).collect();
        Question { id: "x", text: text.to_owned(), choices, default: default.map(str::to_owned), is_long: false }
    }

    fn line(question: &Question) -> String {
        prompt(question, Some(80)).before_answer
    }

    #[test]
    fn short_choices_stand_in_the_line() {
        assert_eq!(line(&question("Path of a trace", &[], Some("a.db"))), "Path of a trace [a.db]: ");
        assert_eq!(line(&question("Which one?", &[], None)), "Which one? ");
        let choices = [("y", "yes"), ("n", "no")];
        assert_eq!(line(&question("Apply it?", &choices, Some("n"))), "Apply it? [y] yes, [n] no (Enter: n): ");
        let long = Question { is_long: true, ..question("Output of the compiler", &[], None) };
        assert_eq!(line(&long), "Output of the compiler (end with an empty line): ");
        assert_eq!(line(&question("evil\u{1b}[2J", &[], None)), "evil␛[2J: ");
    }

    #[test]
    fn numbers_that_do_the_same_are_one_line() {
        let menu = question(
            "What?",
            &[("1", "pursue"), ("2", "pursue"), ("3", "pursue"), ("4", "other"), ("q", "quit")],
            None,
        );
        assert_eq!(prompt(&menu, Some(80)).before_answer, "What? [1–3] pursue, [4] other, [q] quit: ");
    }

    #[test]
    fn menus_are_listed() {
        let label = "a long label that does not fit into the line of a question and is broken between its words";
        let menu = question("What next?", &[("p", "profile"), ("10", label)], Some("q"));
        let shown = prompt(&menu, Some(40));
        assert_eq!(shown.lines[..3], ["What next?", "   p  profile", "  10  a long label that does not fit"]);
        assert!(shown.lines[3].starts_with("      into the line"), "{shown:?}");
        assert_eq!(shown.before_answer, "Choice (Enter: q): ");
    }
}
