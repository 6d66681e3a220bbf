//! Commands that measure the GPU work of the source.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use wavesieve_model::analysis::counter_plan::{
    Accumulations, CounterBlocks, Needs, Resolver, RocmVersion, check_for, items, plan, quoted, spelled,
};
use wavesieve_model::analysis::hardware::metrics::{Definitions, Normalization};

/// A command and its parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Command {
    /// The program.
    pub tool: String,
    pub description: String,
    /// Flags without values.
    pub flags: Vec<String>,
    /// Flags with values.
    pub args: Vec<Argument>,
    /// The whole line, quoted for a shell.
    pub full_command: String,
    /// Its words, not quoted.
    #[serde(skip)]
    pub words: Vec<String>,
}

/// A flag with a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Argument {
    /// The flag.
    pub name: String,
    /// Its value; blanks separate several words.
    pub value: Option<String>,
}

/// A command in the table of advice.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommandForm {
    tool: String,
    description: String,
    mode: Option<String>,
    flags: Vec<String>,
    #[serde(default)]
    pmc: Vec<String>,
    #[serde(default)]
    counters: bool,
    args: Vec<(String, String)>,
}

/// Architecture of counter passes if no trace records one and none is named.
pub const DEFAULT_ARCHITECTURE: &str = "gfx942";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// LLVM name of the architecture for counter passes.
    pub architecture: String,
    /// The program and its arguments; empty if unknown.
    pub program: Vec<String>,
    /// Release of ROCm that the commands are for.
    pub rocm: Option<RocmVersion>,
}

impl Command {
    /// The collected data and the program, without the output place: commands with the same purpose collect the same
    /// data. A name with a placeholder stands for several runs.
    pub fn purpose(&self) -> Vec<&str> {
        let output = ["-d", "-o", "--output-directory", "--output-file", "--output"];
        let own = self.words.iter().position(|word| word == "--").unwrap_or(self.words.len());
        let mut words = self.words.iter().map(String::as_str).enumerate().peekable();
        let mut purpose = Vec::new();
        while let Some((at, word)) = words.next() {
            let is_output = at < own && output.contains(&word);
            if is_output && words.next_if(|(_, value)| !value.contains('%')).is_some() {
                continue;
            }
            purpose.push(word);
        }
        purpose
    }
}

/// The commands of a form: one for each counter pass, or a single one. Commands that the tool would reject are left
/// out.
pub fn commands(form: &CommandForm, counters: &[String], target: &Target) -> Vec<Command> {
    if !form.counters {
        return command(form, &form.pmc, None, target).into_iter().collect();
    }
    let passes = passes(counters, &target.architecture);
    let count = passes.len();
    let numbered =
        |(at, pass): (usize, &Vec<String>)| command(form, pass, (count > 1).then_some((at + 1, count)), target);
    passes.iter().enumerate().filter_map(numbered).collect()
}

/// Groups counters into passes that the hardware can collect. Derived counters are requested by name, so that a pass is
/// the same on every architecture that has them. Empty if the architecture is unknown.
pub fn passes(counters: &[String], architecture: &str) -> Vec<Vec<String>> {
    let facts = CounterBlocks::builtin();
    let definitions = Definitions::builtin();
    let Ok(blocks) = facts.for_architecture(architecture, &BTreeMap::new()) else { return Vec::new() };
    let mut resolver = Resolver::new(&definitions, facts, &blocks, Normalization::Wave);
    // Counters that the architecture lacks are left out.
    for counter in counters {
        let _ = resolver.add_all(std::slice::from_ref(counter));
    }
    let resolved = resolver.finish();
    let Ok(items) = items(&resolved, &blocks, &definitions.accumulated, Accumulations::Defined, true) else {
        return Vec::new();
    };
    let together: Vec<BTreeSet<String>> = resolved.of.values().map(Needs::all).collect();
    let Ok(passes) = plan(&items, &blocks.limits, &together) else { return Vec::new() };
    let order = |name: &str| counters.iter().position(|counter| counter == name).unwrap_or(usize::MAX);
    passes
        .iter()
        .map(|pass| {
            let mut names: Vec<String> = pass.names().into_iter().map(ToOwned::to_owned).collect();
            names.sort_by_key(|name| order(name));
            names
        })
        .collect()
}

fn command(form: &CommandForm, pmc: &[String], pass: Option<(usize, usize)>, target: &Target) -> Option<Command> {
    let mut args: Vec<(String, Vec<String>)> = Vec::new();
    if !pmc.is_empty() {
        args.push(("--pmc".to_owned(), pmc.to_vec()));
    }
    for (name, value) in &form.args {
        let value = match pass {
            Some((number, _)) if name == "-o" => format!("{value}_pass{number}"),
            _ => value.clone(),
        };
        args.push((name.clone(), vec![value]));
    }
    let mut words: Vec<String> = vec![form.tool.clone()];
    words.extend(form.mode.clone());
    words.extend(form.flags.iter().cloned());
    for (name, values) in &args {
        words.push(name.clone());
        words.extend(values.iter().cloned());
    }
    words.push("--".to_owned());
    words.extend(target.program.iter().cloned());
    let words = spelled(&words, target.rocm);
    if !check_for(&words, target.rocm).is_empty() {
        return None;
    }
    let description = match pass {
        Some((number, count)) => format!("{} (pass {number} of {count})", form.description),
        None => form.description.clone(),
    };
    let (flags, args) = options(words.iter().skip(1 + usize::from(form.mode.is_some())));
    let full_command = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    Some(Command { tool: form.tool.clone(), description, flags, args, full_command, words })
}

/// Options before `--`: without values, and with values.
fn options<'a>(words: impl Iterator<Item = &'a String>) -> (Vec<String>, Vec<Argument>) {
    let mut options: Vec<(String, Vec<&str>)> = Vec::new();
    for word in words.take_while(|word| *word != "--") {
        match options.last_mut().filter(|_| !word.starts_with('-')) {
            Some((_, values)) => values.push(word),
            None => options.push((word.clone(), Vec::new())),
        }
    }
    let (flags, args): (Vec<_>, Vec<_>) = options.into_iter().partition(|(_, values)| values.is_empty());
    let argument = |(name, values): (String, Vec<&str>)| Argument { name, value: Some(values.join(" ")) };
    (flags.into_iter().map(|(name, _)| name).collect(), args.into_iter().map(argument).collect())
}
