//! Flags that rocprofv3 accepts, and errors in its command lines: `share/rocprofv3_flags.toml`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::profiler_options::ProfilerOptions;
use super::rocm_version::{Releases, RocmVersion};
use super::spellings::Spelling;
use crate::text::similar::alike;

const FLAGS: &str = data!("share/rocprofv3_flags.toml");

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    source: String,
    checked: String,
    truth_values: Vec<String>,
    flag: Vec<Flag>,
    conflict: Vec<Conflict>,
    needed: Vec<Needed>,
    implied: Vec<Implied>,
    spelling: Vec<Spelling>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flag {
    names: Vec<String>,
    group: String,
    takes: Takes,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    integer: bool,
    #[serde(default)]
    repeats: bool,
    since: Option<RocmVersion>,
    until: Option<RocmVersion>,
    #[serde(default)]
    value_since: BTreeMap<String, RocmVersion>,
    repeats_since: Option<RocmVersion>,
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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Conflict {
    first: String,
    /// The value of the first with which they conflict; any if none is named.
    #[serde(default)]
    value: Option<String>,
    /// Whether they conflict only if the first is given more than once.
    #[serde(default)]
    is_repeated: bool,
    second: Vec<String>,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Needed {
    by: String,
    /// The value with which it needs them; any if none is named.
    #[serde(default)]
    value: Option<String>,
    flags: Vec<String>,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Implied {
    by: String,
    flags: Vec<String>,
    #[serde(default)]
    is_more: bool,
    since: Option<RocmVersion>,
}

/// Flags that a flag turns on besides itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImpliedFlags {
    pub flags: Vec<&'static str>,
    /// Whether it collects more than these.
    pub is_more: bool,
}

/// A flag of a command that is checked.
#[derive(Clone, Debug, Default)]
struct Given {
    count: usize,
    values: Vec<String>,
}

impl Given {
    fn has(&self, value: Option<&String>) -> bool {
        value.is_none_or(|value| self.values.iter().any(|given| given.eq_ignore_ascii_case(value)))
    }
}

/// A flag of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenFlag {
    /// Its first name.
    pub name: &'static str,
    /// The group of flags that it belongs to.
    pub group: &'static str,
    pub values: Vec<String>,
    /// As it was written.
    pub words: Vec<String>,
}

impl GivenFlag {
    /// Whether it is a switch that is turned off.
    pub fn is_off(&self) -> bool {
        let value = self.values.first().map(|value| value.to_lowercase());
        value.is_some_and(|value| ["n", "no", "f", "false", "off", "0"].contains(&value.as_str()))
            && find(flags(), self.name).is_some_and(|flag| flag.takes == Takes::Switch)
    }
}

/// An error in a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandProblem {
    /// It does not start with rocprofv3.
    #[error("{0} is not rocprofv3")]
    Program(String),
    /// A flag that does not exist.
    #[error("rocprofv3 has no flag {flag}{}", .nearest.as_ref().map(|name| format!(" (did you mean {name}?)")).unwrap_or_default())]
    Unknown {
        flag: String,
        /// The one most like it.
        nearest: Option<String>,
    },
    /// A flag without its value.
    #[error("{0} needs a value")]
    NoValue(String),
    /// A value that the flag does not take.
    #[error("{flag} does not take {value}, only {allowed}")]
    Value {
        flag: String,
        value: String,
        /// Values that it takes.
        allowed: String,
    },
    /// A word that belongs to no flag.
    #[error("{0} belongs to no flag; the program follows --")]
    Stray(String),
    /// Flags that cannot be together.
    #[error("{first} and {second} do not go together: {reason}")]
    Conflict {
        first: String,
        /// The other.
        second: String,
        /// Why.
        reason: String,
    },
    /// A flag without another.
    #[error("{flag} needs {other}: {reason}")]
    Without {
        flag: String,
        other: String,
        /// Why.
        reason: String,
    },
    /// A flag, a value or a repetition that the release does not have.
    #[error("{what} exists {releases}, not in ROCm {version}")]
    Release {
        what: String,
        /// Releases that have it.
        releases: String,
        version: String,
    },
    /// The same flag again.
    #[error("{0} stands twice, and only the last counts")]
    Twice(String),
    /// Nothing to run.
    #[error("no program follows --")]
    NoProgram,
}

fn flags() -> &'static Form {
    static FORM: OnceLock<Form> = OnceLock::new();
    FORM.get_or_init(|| toml::from_str(FLAGS).unwrap_or_default())
}

fn find<'a>(form: &'a Form, word: &str) -> Option<&'a Flag> {
    let name = if word.starts_with("--") { word.split_once('=').map_or(word, |(name, _)| name) } else { word };
    form.flag.iter().find(|flag| flag.names.iter().any(|known| known == name))
}

/// Errors in the words of a rocprofv3 command, in their order; empty where rocprofv3 takes it. Words before
/// rocprofv3 that set variables (`NAME=VALUE`) are skipped.
pub fn check_command(words: &[String]) -> Vec<CommandProblem> {
    check_command_for(words, None)
}

/// Mistakes in the words of a command for rocprofv3 of a release; any release may have its flags if none is known.
pub(crate) fn check_command_for(words: &[String], version: Option<RocmVersion>) -> Vec<CommandProblem> {
    let form = flags();
    let is_variable = |word: &&String| word.split_once('=').is_some_and(|(name, _)| !name.starts_with('-'));
    let mut rest = words.iter().skip_while(is_variable).peekable();
    let program = rest.next().map(String::as_str).unwrap_or_default();
    if program.rsplit('/').next() != Some("rocprofv3") {
        return vec![CommandProblem::Program(program.to_owned())];
    }
    let mut problems = Vec::new();
    let mut given: BTreeMap<&str, Given> = BTreeMap::new();
    let mut runs = false;
    while let Some(word) = rest.next() {
        if word == "--" {
            runs = rest.next().is_some();
            break;
        }
        let Some(flag) = find(form, word) else {
            problems.push(unknown(form, word));
            continue;
        };
        let name = flag.names.first().map(String::as_str).unwrap_or_default();
        let own = given.entry(name).or_default();
        own.count += 1;
        if own.count == 2 && !flag.repeats {
            problems.push(CommandProblem::Twice(name.to_owned()));
        }
        let is_repeated = own.count > 1;
        let values = take_values(flag, word, &mut rest);
        problems.extend(wrong_values(form, flag, word, &values));
        problems.extend(version.and_then(|version| flag.other_release(name, &values, is_repeated, version)));
        if let Some(own) = given.get_mut(name) {
            own.values.extend(values);
        }
    }
    problems.extend(together(form, &given));
    let shows_only = ["--version", "--help", "--list-avail", "--attach"].iter().any(|flag| given.contains_key(flag));
    if !runs && !shows_only {
        problems.push(CommandProblem::NoProgram);
    }
    problems
}

/// The values that a flag takes of the words behind it.
fn take_values<'a>(
    flag: &Flag,
    word: &str,
    rest: &mut std::iter::Peekable<impl Iterator<Item = &'a String>>,
) -> Vec<String> {
    let joined = word.strip_prefix("--").and_then(|word| word.split_once('=')).map(|(_, value)| value.to_owned());
    let most = match (&joined, flag.takes) {
        (Some(_), _) | (None, Takes::Nothing) => 0,
        (None, Takes::Switch | Takes::One) => 1,
        (None, Takes::Some | Takes::Any) => usize::MAX,
    };
    let mut values: Vec<String> = joined.into_iter().collect();
    let mut taken = 0;
    while taken < most
        && let Some(value) = rest.next_if(|next| !next.starts_with('-'))
    {
        values.push(value.clone());
        taken += 1;
    }
    values
}

/// The flags among words between rocprofv3 and `--`. Words that belong to no flag are flags without a name.
pub fn given_flags(words: &[String]) -> Vec<GivenFlag> {
    let form = flags();
    let mut rest = words.iter().peekable();
    let mut given = Vec::new();
    while let Some(word) = rest.next() {
        let mut own = vec![word.clone()];
        let Some(flag) = find(form, word) else {
            given.push(GivenFlag { name: "", group: "", values: Vec::new(), words: own });
            continue;
        };
        let values = take_values(flag, word, &mut rest);
        let is_joined = word.starts_with("--") && word.contains('=');
        own.extend(values.iter().filter(|_| !is_joined).cloned());
        let name = flag.names.first().map(String::as_str).unwrap_or_default();
        given.push(GivenFlag { name, group: &flag.group, values, words: own });
    }
    given
}

/// The flags that each flag turns on besides itself in a release; those of all releases if none is known.
pub fn implied_flags(version: Option<RocmVersion>) -> BTreeMap<&'static str, ImpliedFlags> {
    let mut all: BTreeMap<&'static str, ImpliedFlags> = BTreeMap::new();
    let is_there = |since: RocmVersion| version.is_some_and(|version| version >= since);
    for implied in flags().implied.iter().filter(|implied| implied.since.is_none_or(is_there)) {
        let of_flag = all.entry(implied.by.as_str()).or_default();
        of_flag.flags.extend(implied.flags.iter().map(String::as_str));
        of_flag.is_more |= implied.is_more;
    }
    all
}

/// The options of rocprofv3 with their releases.
pub(super) fn options() -> ProfilerOptions {
    let form = flags();
    let mut options = ProfilerOptions::new("rocprofv3", &form.source, &form.checked, &form.spelling);
    for flag in &form.flag {
        let name = flag.names.first().map(String::as_str).unwrap_or_default();
        options.add(name, Releases { since: flag.since, until: flag.until }, None);
        for (value, since) in &flag.value_since {
            options.add(&format!("{name} {value}"), Releases { since: Some(*since), until: None }, None);
        }
        if flag.repeats_since.is_some() {
            options.add(&format!("{name} more than once"), Releases { since: flag.repeats_since, until: None }, None);
        }
    }
    for implied in &form.implied {
        let flags = implied.flags.iter().map(|flag| format!("`{flag}`")).collect::<Vec<String>>().join(", ");
        let releases = Releases { since: implied.since, until: None };
        options.sentences.push(format!("`{}` turns on {flags} {releases}.", implied.by));
    }
    options
}

/// Words after rocprofv3 and before `--`, as a release spells them.
pub(super) fn spelled_flags(own: Vec<String>, version: RocmVersion) -> Vec<String> {
    flags().spelling.iter().fold(own, |own, spelling| spelling.apply(own, version))
}

impl Flag {
    /// Parts of a flag that a release does not have.
    fn other_release(
        &self,
        name: &str,
        values: &[String],
        is_repeated: bool,
        version: RocmVersion,
    ) -> Option<CommandProblem> {
        let of_value = |value: &String| {
            let since = self.value_since.get(&value.to_lowercase())?;
            Some((format!("{name} {value}"), Releases { since: Some(*since), until: None }))
        };
        let repeated = self.repeats_since.filter(|_| is_repeated);
        let repeated =
            repeated.map(|since| (format!("more than one {name}"), Releases { since: Some(since), until: None }));
        let whole = (name.to_owned(), Releases { since: self.since, until: self.until });
        let mut all = std::iter::once(whole).chain(values.iter().filter_map(of_value)).chain(repeated);
        let (what, releases) = all.find(|(_, releases)| !releases.has(Some(version)))?;
        Some(CommandProblem::Release { what, releases: releases.to_string(), version: version.to_string() })
    }
}

fn unknown(form: &Form, word: &str) -> CommandProblem {
    if !word.starts_with('-') {
        return CommandProblem::Stray(word.to_owned());
    }
    let names = || form.flag.iter().flat_map(|flag| &flag.names).filter(|name| name.starts_with("--"));
    let scored = names().map(|name| (alike(word, name), name)).filter(|(score, _)| *score > 0.85);
    let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
    CommandProblem::Unknown { flag: word.to_owned(), nearest: best.map(|(_, name)| name.clone()) }
}

fn wrong_values(form: &Form, flag: &Flag, word: &str, values: &[String]) -> Vec<CommandProblem> {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    let is_missing = match flag.takes {
        Takes::Nothing | Takes::Switch | Takes::Any => false,
        Takes::One | Takes::Some => values.is_empty(),
    };
    if is_missing {
        return vec![CommandProblem::NoValue(name.to_owned())];
    }
    let allowed: &[String] = if flag.takes == Takes::Switch { &form.truth_values } else { &flag.values };
    let is_wrong = |value: &&String| {
        let is_other = !allowed.is_empty() && !allowed.contains(&value.to_lowercase());
        flag.takes == Takes::Nothing || is_other || (flag.integer && value.parse::<i64>().is_err())
    };
    let allowed = match (flag.takes, flag.integer) {
        (Takes::Nothing, _) => "nothing".to_owned(),
        (_, true) => "a whole number".to_owned(),
        _ => allowed.join(", "),
    };
    let wrong = |value: &String| CommandProblem::Value {
        flag: name.to_owned(),
        value: value.clone(),
        allowed: allowed.clone(),
    };
    values.iter().filter(is_wrong).map(wrong).collect()
}

fn together(form: &Form, given: &BTreeMap<&str, Given>) -> Vec<CommandProblem> {
    let has = |flag: &String| given.contains_key(flag.as_str());
    let has_value = |flag: &String, value: Option<&String>| given.get(flag.as_str()).is_some_and(|own| own.has(value));
    let is_repeated = |flag: &String| given.get(flag.as_str()).is_some_and(|own| own.count > 1);
    let conflicts = form.conflict.iter().filter(|conflict| {
        has_value(&conflict.first, conflict.value.as_ref()) && (!conflict.is_repeated || is_repeated(&conflict.first))
    });
    let mut problems = Vec::new();
    for conflict in conflicts {
        // One reason is enough for flags of the same meaning.
        if let Some(second) = conflict.second.iter().find(|second| has(second)) {
            problems.push(CommandProblem::Conflict {
                first: conflict.first.clone(),
                second: second.clone(),
                reason: conflict.reason.clone(),
            });
        }
    }
    for needed in form.needed.iter().filter(|needed| has_value(&needed.by, needed.value.as_ref())) {
        if let Some(other) = needed.flags.iter().find(|other| !has(other)) {
            problems.push(CommandProblem::Without {
                flag: needed.by.clone(),
                other: other.clone(),
                reason: needed.reason.clone(),
            });
        }
    }
    problems
}
