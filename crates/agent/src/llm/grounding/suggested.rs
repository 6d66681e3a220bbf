//! The commands that an answer suggests.

use super::command_check::Checks;
use super::commands::commands;

/// Maximum number of listed commands of an answer.
const MOST_COMMANDS: usize = 5;

/// A command, with the reason if it is not confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggested {
    pub line: String,
    pub problem: Option<String>,
}

/// The commands of texts in order, then those in separate fields of an answer; each once.
pub fn suggested(texts: &[String], structured: &[String], checks: &Checks<'_>) -> Vec<Suggested> {
    let own_fields = structured.iter().map(|line| format!("`{}`", line.replace('`', "'").trim()));
    let of_texts = texts.iter().cloned().chain(own_fields);
    let mut found: Vec<Suggested> = Vec::new();
    for text in of_texts {
        for command in commands(&text, checks) {
            let line = command.line.split_whitespace().collect::<Vec<&str>>().join(" ");
            // A single word is a mention of a program, not a command.
            if line.contains(' ') && !found.iter().any(|known| known.line == line) {
                found.push(Suggested { line, problem: command.problem });
            }
        }
    }
    found.truncate(MOST_COMMANDS);
    found
}

#[cfg(test)]
mod tests {
    use super::super::counters::Counters;
    use super::*;

    fn lines(texts: &[&str], structured: &[&str]) -> Vec<String> {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>();
        let checks = Checks { own: &|_| None, counters: Counters::default(), registry: None };
        suggested(&owned(texts), &owned(structured), &checks).into_iter().map(|one| one.line).collect()
    }

    /// Fact 35.
    #[test]
    fn commands_of_answers() {
        let (first, second) = ("rocprofv3 --hip-trace -- APP", "wavesieve table idle_by_cause INPUT");
        let text = format!("Run `{first}`, then `{second}`.");
        assert_eq!(lines(&[&text], &[]), [first, second]);
        let third = "rocprofv3 --kernel-trace -- APP";
        assert_eq!(lines(&[&text], &[third, first]), [first, second, third]);
        assert_eq!(lines(&[&text, &text], &["wavesieve  table idle_by_cause INPUT", "", "`"]), [first, second]);
        let ten: Vec<String> =
            (0..10).map(|number| format!("Run `rocprofv3 --hip-trace -d {number} -- APP`")).collect();
        let ten: Vec<&str> = ten.iter().map(String::as_str).collect();
        let found = lines(&ten, &[]);
        assert_eq!((found.len(), found[4].as_str()), (5, "rocprofv3 --hip-trace -d 4 -- APP"));
        assert!(lines(&["Use `rocprofv3`, not `rocprof`; nothing to run."], &[]).is_empty());
        assert!(lines(&[], &[]).is_empty());
    }

    #[test]
    fn what_is_wrong_is_listed_too() {
        let checks = Checks { own: &|_| None, counters: Counters::default(), registry: None };
        let found = suggested(&["`rocprofv3 --nonsense -- APP`".to_owned()], &[], &checks);
        assert!(found[0].problem.is_some(), "{found:?}");
    }
}
