//! The text of an answer: paragraphs, whether it follows the schema or not.

use serde_json::Value;

const SCHEMA: &str = include_str!("../../share/llm/answer.json");

/// The schema that answers follow, where a provider can be told.
pub(crate) fn schema() -> Option<Value> {
    serde_json::from_str(SCHEMA).ok()
}

/// The paragraphs of an answer. One that is JSON by the schema is written out; any other is taken as it is.
pub(crate) fn paragraphs(text: &str) -> Vec<String> {
    let bare = without_fence(text);
    let value = serde_json::from_str::<Value>(bare).ok().filter(|value| value.get("summary").is_some());
    match value {
        Some(value) => of_schema(&value),
        None => of_text(text),
    }
}

/// The text without a fence around all of it.
pub(crate) fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix("```") else { return text };
    let Some((_, inner)) = inner.split_once('\n') else { return text };
    inner.trim_end().strip_suffix("```").unwrap_or(inner).trim()
}

fn of_schema(value: &Value) -> Vec<String> {
    let text =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let mut found = vec![text(value, "summary")];
    let bottleneck = text(value, "bottleneck");
    if !bottleneck.is_empty() {
        found.push(format!("Primary bottleneck: {bottleneck}"));
    }
    for one in value.get("recommendations").and_then(Value::as_array).into_iter().flatten() {
        let (priority, rests_on) = (text(one, "priority"), text(one, "rests_on"));
        let reason = if rests_on.is_empty() { String::new() } else { format!(" ({rests_on})") };
        found.push(format!("[{}] {}{reason}", priority.to_uppercase(), text(one, "text")));
    }
    let command = text(value, "next_command");
    if !command.is_empty() {
        found.push(format!("Next: `{}`", command.trim_matches('`')));
    }
    found.retain(|text| !text.is_empty());
    found
}

/// Paragraphs, and lines that begin as those of a list do.
fn of_text(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        let line = line.trim();
        let is_fence = line.starts_with("```");
        if line.is_empty() || is_fence {
            is_open = false;
            continue;
        }
        match found.last_mut().filter(|_| is_open && !is_item(line)) {
            Some(last) => {
                last.push(' ');
                last.push_str(line);
            }
            None => found.push(line.to_owned()),
        }
        is_open = true;
    }
    found
}

fn is_item(line: &str) -> bool {
    let digits = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_numbered = digits.len() < line.len() && digits.starts_with(['.', ')']);
    is_numbered || ["- ", "* ", "• ", "$ ", "#", "rocprof", "wavesieve "].iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_of_any_text() {
        let text = "One\ntwo.\n\n1. first\nmore\n2. second\n```sh\nrocprofv3 --hip-trace -- APP\n```\n";
        assert_eq!(paragraphs(text), ["One two.", "1. first more", "2. second", "rocprofv3 --hip-trace -- APP"]);
        assert_eq!(paragraphs("{\"summary\""), ["{\"summary\""]);
        assert!(paragraphs("  \n").is_empty());
    }

    #[test]
    fn answers_by_the_schema() {
        let text = "```json\n{\"summary\": \"Busy.\", \"bottleneck\": \"\", \"recommendations\": [{\"priority\": \"high\", \"text\": \"Fuse\", \"rests_on\": \"x\"}], \"next_command\": \"`a b`\"}\n```";
        assert_eq!(paragraphs(text), ["Busy.", "[HIGH] Fuse (x)", "Next: `a b`"]);
        assert!(schema().is_some());
    }
}
