//! The command line: checked by the table of wavesieve, of which this program reads what it uses.

use std::collections::BTreeSet;
use std::path::PathBuf;

use wavesieve::internal::{check, passes_needed};

/// The GPUs of the machine that is not there.
const ARCHITECTURE: &str = "gfx942";
/// Flags that record a timeline, and what of it.
const TRACES: [(&str, &[Records]); 12] = [
    ("--sys-trace", &[Records::Calls, Records::Kernels, Records::Copies]),
    ("-s", &[Records::Calls, Records::Kernels, Records::Copies]),
    ("--runtime-trace", &[Records::Calls, Records::Kernels, Records::Copies]),
    ("-r", &[Records::Calls, Records::Kernels, Records::Copies]),
    ("--hip-trace", &[Records::Calls]),
    ("--hip-runtime-trace", &[Records::Calls]),
    ("--kernel-trace", &[Records::Kernels]),
    ("--memory-copy-trace", &[Records::Copies]),
    ("--pmc", &[Records::Kernels]),
    ("--pc-sampling-beta-enabled", &[Records::Kernels]),
    ("--att", &[Records::Instructions]),
    ("--advanced-thread-trace", &[Records::Instructions]),
];

/// Kinds of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Records {
    Calls,
    Kernels,
    Copies,
    Instructions,
}

/// A command that can be run.
#[derive(Debug, Clone)]
pub struct Command {
    pub records: BTreeSet<Records>,
    /// Those of each pass.
    pub passes: Vec<Vec<String>>,
    pub directory: PathBuf,
    /// Name of the output; `%hostname%/%pid%` where none is given.
    pub name: Option<String>,
    pub formats: Vec<String>,
    pub include: Option<String>,
    pub exclude: Option<String>,
    pub application: Vec<String>,
}

/// The outcome of parsing a command line.
pub enum Parsed {
    Run(Command),
    Shown(String),
    Refused(Vec<String>),
    /// Counters that take so many passes.
    TooManyCounters(usize),
}

impl Command {
    /// Reads the words after the program.
    pub fn parse(words: impl Iterator<Item = String>) -> Parsed {
        let words: Vec<String> = std::iter::once("rocprofv3".to_owned()).chain(words).collect();
        if words.iter().any(|word| word == "--version" || word == "-v") {
            return Parsed::Shown("    version: 1.1.0\n    git_revision: fake".to_owned());
        }
        if words.iter().any(|word| word == "--help" || word == "-h") {
            return Parsed::Shown("usage: rocprofv3 [-h] [options] -- <application> [application options]".to_owned());
        }
        let problems: Vec<String> = check(&words).iter().map(ToString::to_string).collect();
        if !problems.is_empty() {
            return Parsed::Refused(problems);
        }
        let command = Self::read(&words);
        for pass in command.passes.iter().filter(|pass| !pass.is_empty()) {
            match passes_needed(pass, ARCHITECTURE) {
                Ok(0 | 1) => {}
                Ok(passes) => return Parsed::TooManyCounters(passes),
                Err(problem) => return Parsed::Refused(vec![problem]),
            }
        }
        Parsed::Run(command)
    }

    fn read(words: &[String]) -> Self {
        let mut command = Self {
            records: BTreeSet::new(),
            passes: Vec::new(),
            directory: PathBuf::from("."),
            name: None,
            formats: Vec::new(),
            include: None,
            exclude: None,
            application: Vec::new(),
        };
        let mut rest = words.iter().skip(1).peekable();
        while let Some(word) = rest.next() {
            if word == "--" {
                command.application = rest.cloned().collect();
                break;
            }
            let (flag, joined) = match word.split_once('=').filter(|_| word.starts_with("--")) {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let mut values: Vec<String> = joined.into_iter().collect();
            while let Some(value) = rest.next_if(|next| !next.starts_with('-')) {
                values.push(value.clone());
            }
            command.take(flag, values);
        }
        command
    }

    fn take(&mut self, flag: &str, values: Vec<String>) {
        let is_off =
            values.first().is_some_and(|value| ["n", "no", "f", "false", "off", "0"].contains(&value.as_str()));
        if let Some((_, records)) = TRACES.iter().find(|(name, _)| *name == flag && !is_off) {
            self.records.extend(records.iter().copied());
        }
        let first = values.first().cloned();
        match flag {
            "--pmc" => {
                let names = values.iter().flat_map(|value| value.split([' ', ',']));
                let names = names.filter_map(|name| name.split(':').next()).filter(|name| !name.is_empty());
                self.passes.push(names.map(ToOwned::to_owned).collect());
            }
            "--output-directory" | "-d" => self.directory = first.map(PathBuf::from).unwrap_or_default(),
            "--output-file" | "-o" => self.name = first,
            "--output-format" | "-f" => self.formats = values,
            "--kernel-include-regex" => self.include = first,
            "--kernel-exclude-regex" => self.exclude = first,
            _ => {}
        }
    }
}
