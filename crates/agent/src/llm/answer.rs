//! Splits an answer into paragraphs, whether it follows the schema or not.

use serde_json::Value;

use super::models::AnswerLimits;

const SCHEMA: &str = data!("share/llm/answer.json");

/// The schema that answers follow, for providers that accept one.
pub fn schema() -> Option<Value> {
    serde_json::from_str(SCHEMA).ok()
}

/// The paragraphs of an answer. JSON by the schema is formatted as text; any other answer is kept as it is.
pub fn paragraphs(text: &str) -> Vec<String> {
    let bare = without_fence(text);
    let value = serde_json::from_str::<Value>(bare).ok().filter(|value| value.get("summary").is_some());
    match value {
        Some(value) => of_schema(&value),
        None => of_text(text),
    }
}

/// The start of an overlong answer, and whether something was left out.
pub fn limited(paragraphs: Vec<String>, limits: AnswerLimits) -> (Vec<String>, bool) {
    let mut left = limits.characters;
    let mut kept = Vec::new();
    let mut is_shortened = paragraphs.len() > limits.paragraphs;
    for paragraph in paragraphs.into_iter().take(limits.paragraphs) {
        if left == 0 {
            is_shortened = true;
            break;
        }
        let length = paragraph.chars().count();
        if length > left {
            is_shortened = true;
            kept.push(cut(&paragraph, left));
            break;
        }
        left -= length;
        kept.push(paragraph);
    }
    (kept, is_shortened)
}

/// The start of a paragraph. It does not end in the middle of a word or number, nor between a number and its unit.
fn cut(paragraph: &str, most: usize) -> String {
    let mut text: String = paragraph.chars().take(most).collect();
    let is_within_word =
        !paragraph.chars().nth(most).is_some_and(char::is_whitespace) && !text.ends_with(char::is_whitespace);
    let mut is_dropped = is_within_word;
    while let Some(start) = text.trim_end().rfind(char::is_whitespace) {
        let has_digits = text.get(start..).is_some_and(|word| word.contains(|letter: char| letter.is_ascii_digit()));
        if !is_dropped && !has_digits {
            break;
        }
        text.truncate(start);
        is_dropped = false;
    }
    text.trim_end().to_owned()
}

/// The commands in separate fields of an answer that follows the schema.
pub(crate) fn structured_commands(text: &str) -> Vec<String> {
    let value = serde_json::from_str::<Value>(without_fence(text)).unwrap_or_default();
    let command = value.get("next_command").and_then(Value::as_str).unwrap_or_default();
    let command = command.trim().trim_matches('`').trim();
    if command.is_empty() { Vec::new() } else { vec![command.to_owned()] }
}

/// The text without a fence around it.
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

/// Languages of fences whose lines are commands.
const SHELLS: [&str; 6] = ["sh", "bash", "shell", "console", "zsh", "shell-session"];

/// Splits a text into paragraphs and list items. Commands in a fence are formatted as code, one per line.
fn of_text(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_open = false;
    // The language of the open fence, if any.
    let mut fence: Option<String> = None;
    for line in text.lines() {
        let line = line.trim();
        if let Some(language) = line.strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(language.trim().to_lowercase()) };
            is_open = false;
            continue;
        }
        if line.is_empty() {
            is_open = false;
            continue;
        }
        // After a backslash at its end, a command continues on the next line.
        let is_command = fence.as_deref().is_some_and(|language| SHELLS.contains(&language));
        let is_continued = is_command && is_open;
        let (line, goes_on) = match line.strip_suffix('\\').filter(|_| is_command) {
            Some(line) => (line.trim_end(), true),
            None => (line, false),
        };
        let is_joined = is_open && (is_continued || fence.is_none() && !is_item(line));
        match found.last_mut().filter(|_| is_joined) {
            Some(last) => {
                last.push(' ');
                last.push_str(line);
            }
            None => found.push(line.to_owned()),
        }
        is_open = if is_command { goes_on } else { true };
        if is_command && !goes_on {
            as_code(&mut found);
        }
    }
    found
}

/// Formats the last line as code, if it is a command and not a comment.
fn as_code(found: &mut [String]) {
    if let Some(last) = found.last_mut().filter(|last| !last.starts_with('#') && !last.contains('`')) {
        *last = format!("`{last}`");
    }
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
        assert_eq!(paragraphs(text), ["One two.", "1. first more", "2. second", "`rocprofv3 --hip-trace -- APP`"]);
        let text = "Do:\n```bash\n# first\nrocprofv3 \\\n  --hip-trace -- APP\nrm x\n```\nor\n```\na = b;\nc();\n```";
        assert_eq!(
            paragraphs(text),
            ["Do:", "# first", "`rocprofv3 --hip-trace -- APP`", "`rm x`", "or", "a = b;", "c();"]
        );
        assert_eq!(paragraphs("{\"summary\""), ["{\"summary\""]);
        assert!(paragraphs("  \n").is_empty());
    }

    #[test]
    fn long_answers_are_cut() {
        let limits = AnswerLimits { characters: 7, paragraphs: 3, flaws: 1 };
        let cut = |texts: &[&str]| limited(texts.iter().map(|text| (*text).to_owned()).collect(), limits);
        assert_eq!(cut(&["äbc", "def"]), (vec!["äbc".to_owned(), "def".to_owned()], false));
        assert_eq!(cut(&["äbc", "defgh"]), (vec!["äbc".to_owned(), "defg".to_owned()], true));
        assert_eq!(cut(&["ab cdefgh"]).0, ["ab"]);
        assert_eq!(cut(&["ab 12 ms"]).0, ["ab"]);
        assert_eq!(cut(&["ab cdef gh"]).0, ["ab cdef"]);
        assert_eq!(cut(&["a", "b", "c", "d"]).0.len(), 3);
        assert!(cut(&["a", "b", "c", "d"]).1 && !cut(&["a", "b", "c"]).1);
    }

    #[test]
    fn answers_by_the_schema() {
        let text = "```json\n{\"summary\": \"Busy.\", \"bottleneck\": \"\", \"recommendations\": [{\"priority\": \"high\", \"text\": \"Fuse\", \"rests_on\": \"x\"}], \"next_command\": \"`a b`\"}\n```";
        assert_eq!(paragraphs(text), ["Busy.", "[HIGH] Fuse (x)", "Next: `a b`"]);
        assert_eq!(structured_commands(text), ["a b"]);
        assert!(structured_commands("{}").is_empty() && structured_commands("a b").is_empty());
        assert!(schema().is_some());
    }
}
