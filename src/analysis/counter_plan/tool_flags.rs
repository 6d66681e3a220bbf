//! What the profilers next to rocprofv3 accept, and what is wrong with a command line for one: `share/commands.toml`.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use regex::Regex;
use serde::Deserialize;

use crate::analysis::counter_plan::profiler_flags::{CommandProblem, check_command};

const COMMANDS: &str = include_str!("../../../share/commands.toml");

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    truth_values: Vec<String>,
    tool: Vec<Tool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    name: String,
    #[serde(rename = "meaning")]
    _meaning: String,
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "since")]
    _since: String,
    #[serde(default)]
    modes: Vec<String>,
    #[serde(default)]
    requires: Vec<String>,
    flag: Vec<Flag>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flag {
    names: Vec<String>,
    #[serde(rename = "meaning")]
    _meaning: String,
    #[serde(rename = "since")]
    _since: String,
    takes: Takes,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    integer: bool,
    #[serde(default)]
    pattern: Option<String>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    conflicts: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Takes {
    Nothing,
    Switch,
    One,
    Some,
    Any,
}

/// What is wrong with a command for a profiler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolProblem {
    /// Nobody wrote down what the program accepts.
    #[error("{0} is no profiler that is known; known are {1}")]
    Tool(String, String),
    /// rocprofv3 would not take it.
    #[error(transparent)]
    Rocprofv3(#[from] CommandProblem),
    /// The mode is missing.
    #[error("{tool} is first told one of {modes}")]
    NoMode {
        /// The program.
        tool: String,
        /// What it can do.
        modes: String,
    },
    /// A flag that does not exist, or is not written down.
    #[error("{tool} is not known to have a flag {flag}")]
    Unknown {
        /// The program.
        tool: String,
        flag: String,
    },
    /// A flag without its value.
    #[error("{0} needs a value")]
    NoValue(String),
    /// A value that the flag does not take.
    #[error("{flag} does not take {value}")]
    Value { flag: String, value: String },
    /// Flags that cannot be together.
    #[error("{0} and {1} do not go together")]
    Conflict(String, String),
    /// A flag without another.
    #[error("{0} needs {1}")]
    Without(String, String),
    /// The same flag again.
    #[error("{0} stands twice")]
    Twice(String),
    /// Nothing to run.
    #[error("no program follows --")]
    NoProgram,
}

fn form() -> &'static Form {
    static FORM: OnceLock<Form> = OnceLock::new();
    FORM.get_or_init(|| toml::from_str(COMMANDS).unwrap_or_default())
}

/// What is wrong with the words of a profiler's command; nothing where the profiler takes it. Commands of rocprofv3 are
/// checked as `check_command` does.
pub fn check(words: &[String]) -> Vec<ToolProblem> {
    let is_variable = |word: &&String| word.split_once('=').is_some_and(|(name, _)| !name.starts_with('-'));
    let program = words.iter().find(|word| !is_variable(word)).map(String::as_str).unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    if name == "rocprofv3" {
        return check_command(words).into_iter().map(ToolProblem::from).collect();
    }
    let Some(tool) = form().tool.iter().find(|tool| tool.name == name) else {
        let known: Vec<&str> = form().tool.iter().map(|tool| tool.name.as_str()).chain(["rocprofv3"]).collect();
        return vec![ToolProblem::Tool(name.to_owned(), known.join(", "))];
    };
    let own: Vec<&String> = words.iter().skip_while(is_variable).skip(1).collect();
    tool.check(&own)
}

impl Tool {
    fn find(&self, word: &str) -> Option<&Flag> {
        self.flag.iter().find(|flag| flag.names.iter().any(|name| name == word))
    }

    fn check(&self, words: &[&String]) -> Vec<ToolProblem> {
        let mut problems = Vec::new();
        let mut rest = words.iter().peekable();
        if !self.modes.is_empty() && rest.next_if(|word| self.modes.contains(word)).is_none() {
            problems.push(ToolProblem::NoMode { tool: self.name.clone(), modes: self.modes.join(", ") });
        }
        let mut given: BTreeSet<&str> = BTreeSet::new();
        let mut runs = false;
        while let Some(word) = rest.next() {
            if *word == "--" {
                runs = rest.next().is_some();
                break;
            }
            let (name, joined) = match word.split_once('=').filter(|_| word.starts_with("--")) {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let Some(flag) = self.find(name) else {
                problems.push(ToolProblem::Unknown { tool: self.name.clone(), flag: name.to_owned() });
                continue;
            };
            let first = flag.names.first().map(String::as_str).unwrap_or_default();
            if !given.insert(first) {
                problems.push(ToolProblem::Twice(first.to_owned()));
            }
            let most = match (&joined, flag.takes) {
                (Some(_), _) | (None, Takes::Nothing) => 0,
                (None, Takes::Switch | Takes::One) => 1,
                (None, Takes::Some | Takes::Any) => usize::MAX,
            };
            let mut values: Vec<String> = joined.into_iter().collect();
            while values.len() < most
                && let Some(value) = rest.next_if(|next| !next.starts_with('-'))
            {
                values.push((*value).clone());
            }
            problems.extend(flag.wrong(name, &values));
        }
        problems.extend(self.together(&given));
        if !runs {
            problems.push(ToolProblem::NoProgram);
        }
        problems
    }

    fn together(&self, given: &BTreeSet<&str>) -> Vec<ToolProblem> {
        let mut problems = Vec::new();
        for flag in &self.flag {
            let Some(name) = flag.names.first().filter(|name| given.contains(name.as_str())) else { continue };
            // Both of a pair name each other.
            let with = flag.conflicts.iter().find(|other| given.contains(other.as_str()) && name < *other);
            problems.extend(with.map(|other| ToolProblem::Conflict(name.clone(), other.clone())));
            let missing = flag.needs.iter().filter(|other| !given.contains(other.as_str()));
            problems.extend(missing.map(|other| ToolProblem::Without(name.clone(), other.clone())));
        }
        let required = self.requires.iter().filter(|name| !given.contains(name.as_str()));
        problems.extend(required.map(|name| ToolProblem::Without(self.name.clone(), name.clone())));
        problems
    }
}

impl Flag {
    fn wrong(&self, name: &str, values: &[String]) -> Vec<ToolProblem> {
        if values.is_empty() && matches!(self.takes, Takes::One | Takes::Some) {
            return vec![ToolProblem::NoValue(name.to_owned())];
        }
        let pattern = self.pattern.as_deref().and_then(|pattern| Regex::new(pattern).ok());
        let is_wrong = |value: &&String| {
            let known: &[String] = if self.takes == Takes::Switch { &form().truth_values } else { &self.values };
            self.takes == Takes::Nothing
                || (!known.is_empty() && !known.contains(*value))
                || (self.integer && value.parse::<i64>().is_err())
                || pattern.as_ref().is_some_and(|pattern| !pattern.is_match(value))
        };
        let wrong = |value: &String| ToolProblem::Value { flag: name.to_owned(), value: value.clone() };
        values.iter().filter(is_wrong).map(wrong).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::counter_plan::words;

    fn problems(line: &str) -> Vec<String> {
        check(&words(line).unwrap()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_table_is_read_and_names_flags_that_exist() {
        let form: Form = toml::from_str(COMMANDS).unwrap();
        for tool in &form.tool {
            for flag in &tool.flag {
                let named = flag.needs.iter().chain(&flag.conflicts).chain(&tool.requires);
                assert!(named.into_iter().all(|name| tool.find(name).is_some()), "{} {:?}", tool.name, flag.names);
                assert!(flag.pattern.as_deref().is_none_or(|pattern| Regex::new(pattern).is_ok()));
            }
        }
    }

    #[test]
    fn what_the_tools_take() {
        for line in [
            "rocprof-sys-sample --trace -- ./app",
            "A=1 /opt/rocm/bin/rocprof-sys-sample -T --device --gpus 0 1 -o out prefix -- python train.py",
            "rocprof-compute profile -n run --block 12.1 2 -k 'k<int>' -- ./app -x",
            "rocprofv3 --sys-trace -- ./app",
        ] {
            assert_eq!(problems(line), [""; 0], "{line}");
        }
        for (line, expected) in [
            ("rocprof-sys --trace -- ./app", "rocprof-sys is no profiler that is known"),
            ("rocprof-sys-sample --trace-gpu-memory -- ./app", "not known to have a flag --trace-gpu-memory"),
            ("rocprof-sys-sample --trace", "no program follows --"),
            ("rocprof-sys-sample --gpus 0 -- ./app", "--gpus needs --device"),
            ("rocprof-sys-sample -P -F -- ./app", "do not go together"),
            ("rocprof-sys-sample -T --trace -- ./app", "--trace stands twice"),
            ("rocprof-compute profile -- ./app", "rocprof-compute needs --name"),
            ("rocprof-compute -n run -- ./app", "first told one of profile"),
            ("rocprof-compute profile -n run --block SQ -- ./app", "--block does not take SQ"),
            ("rocprofv3 --hip-api-trace -- ./app", "no flag --hip-api-trace"),
        ] {
            let found = problems(line);
            assert!(found.len() == 1 && found[0].contains(expected), "{line}: {found:?}");
        }
    }
}
