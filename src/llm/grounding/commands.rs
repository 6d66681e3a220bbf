//! Commands of a text, and whether their programs take them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::analysis::counter_plan::{check, words};

/// Programs whose commands are looked for.
const PROGRAMS: &str =
    "rocprofv3|rocprof-sys-sample|rocprof-compute|rocprof-sys-run|rocprofv2|rocprof|omniperf|omnitrace|wavesieve|rocpd";

static COMMAND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = format!(
        r"`\s*\$?\s*((?:[A-Z_]+=\S+ )*(?:{PROGRAMS})(?:\s[^`\n]*)?)`|^\s*(?:\$ )?((?:[A-Z_]+=\S+ )*(?:{PROGRAMS})\s+-[^\n]*)$"
    );
    Regex::new(&words).ok()
});

/// Tells why the program does not take a command of its own; nothing where it does.
pub(crate) type CheckOwn<'a> = &'a dyn Fn(&[String]) -> Option<String>;

/// A command with why it is not confirmed.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub place: Range<usize>,
    pub line: String,
    /// Why it is marked; nothing where the tables of flags confirm it.
    pub problem: Option<String>,
}

/// The commands of a text.
pub(crate) fn commands(text: &str, check_own: CheckOwn<'_>) -> Vec<Found> {
    let Some(command) = COMMAND.as_ref() else { return Vec::new() };
    let found = command.captures_iter(text).filter_map(|found| found.get(1).or_else(|| found.get(2)));
    found
        .filter_map(|part| {
            let line = part.as_str().trim().to_owned();
            // A program that is only mentioned is no command.
            let is_alone = line.split_whitespace().count() == 1;
            (!is_alone || !is_current(&line)).then(|| Found {
                place: part.range(),
                problem: problem(&line, check_own),
                line,
            })
        })
        .collect()
}

fn is_current(program: &str) -> bool {
    !matches!(program, "rocprof" | "rocprofv2" | "omniperf" | "omnitrace")
}

fn problem(line: &str, check_own: CheckOwn<'_>) -> Option<String> {
    let Some(words) = words(line) else { return Some("its quotes do not close".to_owned()) };
    let program = words.iter().find(|word| !word.contains('=')).map(String::as_str).unwrap_or_default();
    if program == "wavesieve" {
        return check_own(&words);
    }
    check(&words).first().map(ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<(String, bool)> {
        let own = |words: &[String]| words.contains(&"nonsense".to_owned()).then(|| "unknown".to_owned());
        commands(text, &own).into_iter().map(|found| (found.line, found.problem.is_some())).collect()
    }

    #[test]
    fn commands_pass_the_tables_of_flags() {
        let text = "Run `rocprofv3 --kernel-trace --hip-trace -- APP` or `rocprofv3 --kernel-names x -- APP`, then `wavesieve table nonsense INPUT`; `rocprofv3` is a tool, `rocprof` is not.";
        let expected = [
            ("rocprofv3 --kernel-trace --hip-trace -- APP", false),
            ("rocprofv3 --kernel-names x -- APP", true),
            ("wavesieve table nonsense INPUT", true),
            ("rocprof", true),
        ];
        assert_eq!(problems(text), expected.map(|(line, wrong)| (line.to_owned(), wrong)));
        assert_eq!(problems("$ rocprofv3 --hip-trace -- APP").len(), 1);
        assert_eq!(problems("Next: `rocprofv3 'open`").len(), 1);
    }
}
