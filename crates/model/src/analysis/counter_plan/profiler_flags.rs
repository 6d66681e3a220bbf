//! Flags that rocprofv3 accepts, and errors in its command lines: `share/rocprofv3_flags.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::command_words::{CommandProblem, Takes, name_and_value};
use super::profiler_options::ProfilerOptions;
use super::rocm_version::{Releases, RocmVersion};
use super::spellings::Spelling;
use crate::text::similar::alike;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfilerFlagsFile {
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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Conflict {
    first: String,
    /// The value of the first flag with which they conflict; any value if `None`.
    value: Option<String>,
    /// Whether they conflict only if the first flag is given more than once.
    #[serde(default)]
    is_repeated: bool,
    second: Vec<String>,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Needed {
    by: String,
    /// The value with which it needs them; any value if `None`.
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

/// Flags that a flag turns on in addition to itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImpliedFlags {
    pub flags: Vec<&'static str>,
    /// Whether it collects more than these flags do.
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
    /// The words as they were written.
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

fn flags() -> &'static ProfilerFlagsFile {
    shared!(ProfilerFlagsFile, "share/rocprofv3_flags.toml")
}

fn find<'a>(form: &'a ProfilerFlagsFile, word: &str) -> Option<&'a Flag> {
    let (name, _) = name_and_value(word);
    form.flag.iter().find(|flag| flag.names.iter().any(|known| known == name))
}

/// Errors in the words behind rocprofv3 for a release. If no release is known, flags may be those of any release.
pub(super) fn check(words: &[String], version: Option<RocmVersion>) -> Vec<CommandProblem> {
    let form = flags();
    let mut rest = words.iter().peekable();
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
        let (written, joined) = name_and_value(word);
        let own = given.entry(flag.name()).or_default();
        own.count += 1;
        if own.count == 2 && !flag.repeats {
            problems.push(CommandProblem::Twice(flag.name().to_owned(), ", and only the last counts"));
        }
        let values = flag.takes.values(joined, &mut rest);
        problems.extend(wrong_values(form, flag, written, &values));
        problems.extend(version.and_then(|version| flag.other_release(&values, own.count > 1, version)));
        own.values.extend(values);
    }
    problems.extend(together(form, &given));
    let shows_only = ["--version", "--help", "--list-avail", "--attach"].iter().any(|flag| given.contains_key(flag));
    if !runs && !shows_only {
        problems.push(CommandProblem::NoProgram);
    }
    problems
}

/// The flags among the words between rocprofv3 and `--`. Words that belong to no flag are flags without a name.
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
        let (_, joined) = name_and_value(word);
        let values = flag.takes.values(joined, &mut rest);
        own.extend(values.iter().filter(|_| joined.is_none()).cloned());
        given.push(GivenFlag { name: flag.name(), group: &flag.group, values, words: own });
    }
    given
}

/// The flags that each flag turns on in addition to itself in a release. If no release is known, only flags that all
/// releases turn on.
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
        let name = flag.name();
        options.add(name, flag.releases(), None);
        for (value, since) in &flag.value_since {
            options.add(&format!("{name} {value}"), Releases::since(*since), None);
        }
        if let Some(since) = flag.repeats_since {
            options.add(&format!("{name} more than once"), Releases::since(since), None);
        }
    }
    for implied in &form.implied {
        let flags = implied.flags.iter().map(|flag| format!("`{flag}`")).collect::<Vec<String>>().join(", ");
        let releases = Releases { since: implied.since, until: None };
        options.sentences.push(format!("`{}` turns on {flags} {releases}.", implied.by));
    }
    options
}

/// The words between rocprofv3 and `--`, as a release spells them.
pub(super) fn spelled_flags(own: Vec<String>, version: RocmVersion) -> Vec<String> {
    flags().spelling.iter().fold(own, |own, spelling| spelling.apply(own, version))
}

impl Flag {
    /// The first name.
    fn name(&self) -> &str {
        self.names.first().map(String::as_str).unwrap_or_default()
    }

    fn releases(&self) -> Releases {
        Releases { since: self.since, until: self.until }
    }

    /// Parts of a flag that a release does not have.
    fn other_release(&self, values: &[String], is_repeated: bool, version: RocmVersion) -> Option<CommandProblem> {
        let name = self.name();
        let of_value = |value: &String| {
            let since = self.value_since.get(&value.to_lowercase())?;
            Some((format!("{name} {value}"), Releases::since(*since)))
        };
        let repeated = self.repeats_since.filter(|_| is_repeated);
        let repeated = repeated.map(|since| (format!("more than one {name}"), Releases::since(since)));
        let whole = (name.to_owned(), self.releases());
        let mut all = std::iter::once(whole).chain(values.iter().filter_map(of_value)).chain(repeated);
        let (what, releases) = all.find(|(_, releases)| !releases.has(Some(version)))?;
        let (releases, version) = (releases.to_string(), version.to_string());
        Some(CommandProblem::Release { what, releases, version, instead: None })
    }
}

fn unknown(form: &ProfilerFlagsFile, word: &str) -> CommandProblem {
    if !word.starts_with('-') {
        return CommandProblem::Stray(word.to_owned());
    }
    let names = || form.flag.iter().flat_map(|flag| &flag.names).filter(|name| name.starts_with("--"));
    let scored = names().map(|name| (alike(word, name), name)).filter(|(score, _)| *score > 0.85);
    let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
    CommandProblem::Unknown { flag: word.to_owned(), nearest: best.map(|(_, name)| name.clone()) }
}

fn wrong_values(form: &ProfilerFlagsFile, flag: &Flag, name: &str, values: &[String]) -> Vec<CommandProblem> {
    if flag.takes.lacks(values) {
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
        allowed: Some(allowed.clone()),
    };
    values.iter().filter(is_wrong).map(wrong).collect()
}

fn together(form: &ProfilerFlagsFile, given: &BTreeMap<&str, Given>) -> Vec<CommandProblem> {
    let has = |flag: &String| given.contains_key(flag.as_str());
    let has_value = |flag: &String, value: Option<&String>| given.get(flag.as_str()).is_some_and(|own| own.has(value));
    let is_repeated = |flag: &String| given.get(flag.as_str()).is_some_and(|own| own.count > 1);
    let conflicts = form.conflict.iter().filter(|conflict| {
        has_value(&conflict.first, conflict.value.as_ref()) && (!conflict.is_repeated || is_repeated(&conflict.first))
    });
    let mut problems = Vec::new();
    for conflict in conflicts {
        // One reason is enough for flags with the same meaning.
        if let Some(second) = conflict.second.iter().find(|second| has(second)) {
            let (first, reason) = (conflict.first.clone(), Some(conflict.reason.clone()));
            problems.push(CommandProblem::Conflict { first, second: second.clone(), reason });
        }
    }
    for needed in form.needed.iter().filter(|needed| has_value(&needed.by, needed.value.as_ref())) {
        if let Some(other) = needed.flags.iter().find(|other| !has(other)) {
            let (flag, reason) = (needed.by.clone(), Some(needed.reason.clone()));
            problems.push(CommandProblem::Without { flag, other: other.clone(), reason });
        }
    }
    problems
}
