//! Commands without the traced program.

use serde_json::{Map, Value};

/// Replaces the program in commands.
const PROGRAM: &str = "APP";
/// Separates a profiler with its options from the program.
const END: &str = "--";

/// The words of a command without the program and its arguments, which advice does not need.
pub(super) fn without_program(words: &[String]) -> String {
    let own: Vec<&str> = words.iter().map(String::as_str).take_while(|word| *word != END).collect();
    if own.len() < words.len() { format!("{} {END} {PROGRAM}", own.join(" ")) } else { own.join(" ") }
}

/// Removes the program and its arguments from the commands of an object.
pub(super) fn without_program_in(fields: &mut Map<String, Value>) {
    let is_command = fields.get("words").is_some_and(Value::is_array);
    if let Some(Value::Array(words)) = fields.get_mut("words")
        && let Some(place) = words.iter().position(|word| word.as_str() == Some(END))
    {
        words.truncate(place + 1);
        words.push(Value::from(PROGRAM));
    }
    if let Some(Value::String(line)) = fields.get_mut("line").filter(|_| is_command) {
        *line = cut(line);
    }
    for line in fields.get_mut("commands").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::String(line) = line {
            *line = cut(line);
        }
    }
}

fn cut(line: &str) -> String {
    match line.split_once(" -- ") {
        Some((own, _)) => format!("{own} {END} {PROGRAM}"),
        None => line.to_owned(),
    }
}
