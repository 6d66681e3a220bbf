//! Flags of the profilers other than rocprofv3, and errors in their command lines: `share/commands.toml`.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;

use crate::analysis::counter_plan::command_words::{CommandProblem, Takes, name_and_value, program};
use crate::analysis::counter_plan::profiler_flags::{self, spelled_flags};
use crate::analysis::counter_plan::profiler_options::ProfilerOptions;
use crate::analysis::counter_plan::rocm_version::{Releases, RocmVersion};
use crate::analysis::counter_plan::spellings::Spelling;

const ROCPROFV3: &str = "rocprofv3";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolFlagsFile {
    checked: String,
    truth_values: Vec<String>,
    tool: Vec<Tool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    name: String,
    #[serde(rename = "meaning")]
    _meaning: String,
    source: String,
    since: RocmVersion,
    #[serde(default)]
    modes: Vec<String>,
    #[serde(default)]
    requires: Vec<String>,
    flag: Vec<Flag>,
    #[serde(default)]
    spelling: Vec<Spelling>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flag {
    names: Vec<String>,
    #[serde(rename = "meaning")]
    _meaning: String,
    since: RocmVersion,
    until: Option<RocmVersion>,
    /// Its replacement in newer releases.
    instead: Option<String>,
    takes: Takes,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    integer: bool,
    pattern: Option<String>,
    /// Values that newer releases do not take.
    #[serde(default)]
    value_until: BTreeMap<String, RocmVersion>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    conflicts: Vec<String>,
}

fn form() -> &'static ToolFlagsFile {
    shared!(ToolFlagsFile, "share/commands.toml")
}

/// Errors in the words of a profiler's command; empty if the profiler accepts it. Flags may be those of any release.
pub fn check(words: &[String]) -> Vec<CommandProblem> {
    check_for(words, None)
}

/// Errors in the words of a profiler's command for a release of ROCm, or for any release if none is known.
pub fn check_for(words: &[String], version: Option<RocmVersion>) -> Vec<CommandProblem> {
    let (at, name) = program(words);
    let own = words.get(at + 1..).unwrap_or_default();
    if name == ROCPROFV3 {
        return profiler_flags::check(own, version);
    }
    let Some(tool) = find_tool(name) else {
        let known: Vec<&str> = form().tool.iter().map(|tool| tool.name.as_str()).chain([ROCPROFV3]).collect();
        return vec![CommandProblem::Tool(name.to_owned(), known.join(", "))];
    };
    tool.check(own, version)
}

/// The words of a profiler's command as a release spells them. They are written for ROCm 7.0 and later, and stay
/// unchanged if no release is known.
pub fn spelled(words: &[String], version: Option<RocmVersion>) -> Vec<String> {
    let Some(version) = version else { return words.to_vec() };
    let (at, name) = program(words);
    let tool = find_tool(name);
    if tool.is_none() && name != ROCPROFV3 {
        return words.to_vec();
    }
    let is_mode = |word: &&String| tool.is_some_and(|tool| tool.modes.contains(word));
    let start = at + 1 + usize::from(words.get(at + 1).filter(is_mode).is_some());
    let count = words.iter().skip(start).take_while(|word| *word != "--").count();
    let own: Vec<String> = words.iter().skip(start).take(count).cloned().collect();
    let own = match tool {
        Some(tool) => tool.spelling.iter().fold(own, |own, spelling| spelling.apply(own, version)),
        None => spelled_flags(own, version),
    };
    words.iter().take(start).cloned().chain(own).chain(words.iter().skip(start + count).cloned()).collect()
}

/// The options of all profilers with their releases.
pub fn profilers() -> Vec<ProfilerOptions> {
    let of_tool = |tool: &Tool| {
        let mut options = ProfilerOptions::new(&tool.name, &tool.source, &form().checked, &tool.spelling);
        for flag in &tool.flag {
            options.add(flag.name(), flag.releases(), flag.instead.as_deref().filter(|_| flag.until.is_some()));
            for (value, until) in &flag.value_until {
                let releases = Releases { since: Some(flag.since), until: Some(*until) };
                options.add(&format!("{} {value}", flag.name()), releases, flag.instead.as_deref());
            }
        }
        options
    };
    std::iter::once(profiler_flags::options()).chain(form().tool.iter().map(of_tool)).collect()
}

fn find_tool(name: &str) -> Option<&'static Tool> {
    form().tool.iter().find(|tool| tool.name == name)
}

impl Tool {
    /// The flag with this name in a release, or the newest one if no release is known. Returns the problem if there is
    /// none.
    fn find(&self, word: &str, version: Option<RocmVersion>) -> Result<&Flag, CommandProblem> {
        let mut named: Vec<&Flag> =
            self.flag.iter().filter(|flag| flag.names.iter().any(|name| name == word)).collect();
        named.sort_by_key(|flag| flag.since);
        if let (None, [older, newer]) = (version, named.as_slice())
            && older.name() != newer.name()
        {
            return Err(CommandProblem::TwoMeanings {
                tool: self.name.clone(),
                flag: word.to_owned(),
                older: older.name().to_owned(),
                newer: newer.name().to_owned(),
                since: newer.since.to_string(),
            });
        }
        let of_release = named.iter().rev().find(|flag| flag.releases().has(version));
        match (of_release, named.last(), version) {
            (Some(flag), _, _) => Ok(flag),
            (None, Some(other), Some(version)) => Err(other.other_release(word, other.releases(), version)),
            _ => Err(CommandProblem::Unlisted(self.name.clone(), word.to_owned())),
        }
    }

    fn check(&self, words: &[String], version: Option<RocmVersion>) -> Vec<CommandProblem> {
        let mut problems = Vec::new();
        let releases = Releases::since(self.since);
        if let Some(version) = version.filter(|version| !releases.has(Some(*version))) {
            let (what, releases, version) = (self.name.clone(), releases.to_string(), version.to_string());
            problems.push(CommandProblem::Release { what, releases, version, instead: None });
        }
        let mut rest = words.iter().peekable();
        if !self.modes.is_empty() && rest.next_if(|word| self.modes.contains(word)).is_none() {
            problems.push(CommandProblem::NoMode { tool: self.name.clone(), modes: self.modes.join(", ") });
        }
        let mut given: BTreeMap<&str, &Flag> = BTreeMap::new();
        let mut runs = false;
        while let Some(word) = rest.next() {
            if word == "--" {
                runs = rest.next().is_some();
                break;
            }
            let (name, joined) = name_and_value(word);
            let flag = match self.find(name, version) {
                Ok(flag) => flag,
                Err(problem) => {
                    problems.push(problem);
                    // Its values are not flags.
                    while rest.next_if(|next| !next.starts_with('-')).is_some() {}
                    continue;
                }
            };
            let first = flag.name();
            if given.insert(first, flag).is_some() {
                problems.push(CommandProblem::Twice(first.to_owned(), ""));
            }
            let values = flag.takes.values(joined, &mut rest);
            problems.extend(flag.wrong(name, &values, version));
        }
        problems.extend(self.together(&given));
        if !runs {
            problems.push(CommandProblem::NoProgram);
        }
        problems
    }

    fn together(&self, given: &BTreeMap<&str, &Flag>) -> Vec<CommandProblem> {
        let without = |flag: &str, other: &String| CommandProblem::Without {
            flag: flag.to_owned(),
            other: other.clone(),
            reason: None,
        };
        let is_missing = |name: &&String| !given.contains_key(name.as_str());
        let mut problems = Vec::new();
        for flag in given.values() {
            let name = flag.name();
            // Each of a conflicting pair names the other.
            let with = flag.conflicts.iter().find(|other| given.contains_key(other.as_str()) && name < other.as_str());
            problems.extend(with.cloned().map(|second| CommandProblem::Conflict {
                first: name.to_owned(),
                second,
                reason: None,
            }));
            problems.extend(flag.needs.iter().filter(is_missing).map(|other| without(name, other)));
        }
        problems.extend(self.requires.iter().filter(is_missing).map(|other| without(&self.name, other)));
        problems
    }
}

impl Flag {
    /// The first name.
    fn name(&self) -> &str {
        self.names.first().map(String::as_str).unwrap_or_default()
    }

    fn releases(&self) -> Releases {
        Releases { since: Some(self.since), until: self.until }
    }

    /// The problem that a release does not have this option, which other releases have.
    fn other_release(&self, what: &str, releases: Releases, version: RocmVersion) -> CommandProblem {
        let is_past = releases.until.is_some_and(|until| version >= until);
        CommandProblem::Release {
            what: what.to_owned(),
            releases: releases.to_string(),
            version: version.to_string(),
            instead: self.instead.clone().filter(|_| is_past),
        }
    }

    fn wrong(&self, name: &str, values: &[String], version: Option<RocmVersion>) -> Vec<CommandProblem> {
        if self.takes.lacks(values) {
            return vec![CommandProblem::NoValue(name.to_owned())];
        }
        let pattern = self.pattern.as_deref().and_then(|pattern| Regex::new(pattern).ok());
        let is_wrong = |value: &&String| {
            let known: &[String] = if self.takes == Takes::Switch { &form().truth_values } else { &self.values };
            self.takes == Takes::Nothing
                || (!known.is_empty() && !known.contains(*value))
                || (self.integer && value.parse::<i64>().is_err())
                || pattern.as_ref().is_some_and(|pattern| !pattern.is_match(value))
        };
        let wrong =
            |value: &String| CommandProblem::Value { flag: name.to_owned(), value: value.clone(), allowed: None };
        let past = |value: &String| {
            let releases = Releases { since: Some(self.since), until: Some(*self.value_until.get(value)?) };
            let version = version.filter(|version| !releases.has(Some(*version)))?;
            Some(self.other_release(&format!("{name} {value}"), releases, version))
        };
        values.iter().filter(is_wrong).map(wrong).chain(values.iter().filter_map(past)).collect()
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
        let form: ToolFlagsFile = toml::from_str(data!("share/commands.toml")).unwrap();
        for tool in &form.tool {
            for flag in &tool.flag {
                let mut named = flag.needs.iter().chain(&flag.conflicts).chain(&tool.requires);
                let is_flag = |name: &String| tool.flag.iter().any(|flag| flag.names.contains(name));
                assert!(named.all(is_flag), "{} {:?}", tool.name, flag.names);
                assert!(flag.until.is_none_or(|until| flag.since < until), "{} {:?}", tool.name, flag.names);
                // Entries with the same name are for different releases.
                let others = tool.flag.iter().filter(|other| !std::ptr::eq(*other, flag));
                for other in others.filter(|other| other.names.iter().any(|name| flag.names.contains(name))) {
                    let (first, second) = if flag.since < other.since { (flag, other) } else { (other, flag) };
                    assert!(first.until.is_some_and(|until| until <= second.since), "{} {:?}", tool.name, flag.names);
                }
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
            ("rocprof-sys --trace -- ./app", "rocprof-sys is not a known profiler"),
            ("rocprof-sys-sample --trace-gpu-memory -- ./app", "not known to have a flag --trace-gpu-memory"),
            ("rocprof-sys-sample --trace", "no program follows --"),
            ("rocprof-sys-sample --gpus 0 -- ./app", "--gpus needs --device"),
            ("rocprof-sys-sample -P -F -- ./app", "do not go together"),
            ("rocprof-sys-sample -T --trace -- ./app", "--trace stands twice"),
            ("rocprof-compute profile -- ./app", "rocprof-compute needs --name"),
            ("rocprof-compute -n run -- ./app", "first told one of profile"),
            ("rocprof-compute profile -n run --block SQ -- ./app", "--block does not take SQ"),
            ("rocprofv3 --hip-api-trace -- ./app", "no flag --hip-api-trace"),
            ("rocprof-compute profile -n run -d 3 -- ./app", "-d of rocprof-compute means --dispatch before ROCm 10.2"),
        ] {
            let found = problems(line);
            assert!(found.len() == 1 && found[0].contains(expected), "{line}: {found:?}");
        }
    }

    fn problems_for(line: &str, version: &str) -> Vec<String> {
        let version = Some(version.parse().unwrap());
        check_for(&words(line).unwrap(), version).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn flags_are_taken_in_their_releases_only() {
        for (line, taken, refused) in [
            ("rocprof-compute profile -n run -d 3 -- ./app", &["6.3", "7.14", "10.1", "10.2"][..], &[][..]),
            ("rocprof-compute profile -n run --dispatch 3 -- ./app", &["6.3", "10.1"], &["10.2"]),
            ("rocprof-compute profile -n run --kernel-iteration-range 3 -- ./app", &["10.2"], &["7.14", "10.1"]),
            ("rocprof-compute profile -n run -d a b -- ./app", &["10.0"], &["10.2"]),
            ("rocprof-compute profile -n run --path out -- ./app", &["6.4", "7.13"], &["7.14", "10.0"]),
            ("rocprof-compute profile -n run --overwrite -- ./app", &["10.0", "10.2"], &["7.14"]),
            ("rocprof-compute profile -n run -b 21 -- ./app", &["7.0", "7.13"], &["7.14", "10.0"]),
            ("rocprof-compute profile -n run --experimental --pc-sampling -- ./app", &["7.14", "10.2"], &["7.13"]),
            ("rocprof-compute profile -n run --pc-sampling -- ./app", &[], &["7.14", "10.2"]),
            ("rocprof-compute profile -n run --join-type grid -- ./app", &["6.3", "10.0"], &["10.1"]),
            ("rocprof-compute profile -n run --format-rocprof-output rocpd -- ./app", &["7.1", "10.0"], &["10.1"]),
            ("rocprof-sys-sample --output-format rocpd -- ./app", &["7.14", "10.1"], &["7.13", "6.4"]),
            ("rocprof-sys-sample --trace --output-format rocpd -- ./app", &[], &["7.14", "10.1"]),
            ("rocprof-sys-sample --sampling-freq 100 -- ./app", &["7.14"], &["7.13"]),
            ("rocprof-sys-sample --preset=balanced -- ./app", &["7.13"], &["7.2"]),
            ("rocprofv3 --pmc A --output-format rocpd -- ./app", &["7.0", "10.2"], &["6.4"]),
            ("rocprofv3 --pmc A --pmc B -- ./app", &["7.13", "10.2"], &["7.2"]),
            ("rocprofv3 --pmc A --pmc B --attach 5", &[], &["7.13", "10.2"]),
            ("rocprofv3 --pmc A --pmc B --collection-period 1:1:1 -- ./app", &[], &["10.2"]),
            ("rocprofv3 --pmc A --collection-period 1:1:1 -- ./app", &["6.4", "10.2"], &["6.3"]),
            ("rocprofv3 --ompt-trace --kernel-trace -- ./app", &["10.0"], &["7.14"]),
            ("rocprofv3 --pmc A --replay-mode kernel --kernel-replay-beta-enabled -- ./app", &["10.2"], &["10.0"]),
            ("rocprofv3 --pmc A --replay-mode kernel -- ./app", &[], &["10.2"]),
            ("rocprofv3 --replay-mode kernel --kernel-replay-beta-enabled -- ./app", &[], &["10.2"]),
            ("rocprofv3 --pmc A --replay-mode application -- ./app", &["10.2"], &[]),
            ("rocprofv3 --pmc A --replay-mode kernel --kernel-replay-beta-enabled --att -- ./app", &[], &["10.2"]),
            (
                "rocprofv3 --pmc A --replay-mode kernel --kernel-replay-beta-enabled --pc-sampling-unit time -- ./app",
                &[],
                &["10.2"],
            ),
            ("rocprofv3 --pmc A --replay-mode kernel --kernel-replay-beta-enabled --spm B -- ./app", &[], &["10.2"]),
        ] {
            for version in taken {
                assert_eq!(problems_for(line, version), [""; 0], "{line} of {version}");
            }
            for version in refused {
                assert!(!problems_for(line, version).is_empty(), "{line} of {version}");
            }
        }
        let refusal = problems_for("rocprof-compute profile -n run --path out -- ./app", "10.0");
        assert_eq!(refusal, ["--path exists from ROCm 6.3 to before 7.14, not in ROCm 10.0; use --output-directory"]);
    }

    #[test]
    fn releases_spell_commands_in_their_own_way() {
        for (version, line, expected) in [
            (
                "6.4",
                "rocprofv3 --output-format rocpd -- ./a --output-format rocpd",
                "--output-format json -- ./a --output-format rocpd",
            ),
            (
                "7.2",
                "rocprofv3 --sys-trace --output-format rocpd -d a -- ./a",
                "--sys-trace --output-format rocpd -d a -- ./a",
            ),
            (
                "10.0",
                "A=1 rocprof-compute profile --name a --kernel k -- ./a",
                "--overwrite --name a --kernel k -- ./a",
            ),
            ("7.14", "rocprof-compute profile --name a --kernel k -- ./a", "--name a --kernel k -- ./a"),
            ("10.1", "rocprof-sys-sample --trace --profile -- ./a", "--output-format rocpd text -- ./a"),
            ("10.1", "rocprof-sys-sample --trace --device -- ./a", "--output-format rocpd --device -- ./a"),
            ("7.13", "rocprof-sys-sample --trace --device -- ./a", "--trace --device -- ./a"),
            ("10.1", "perf stat --trace -- ./a", "--trace -- ./a"),
        ] {
            let (start, _) = line.split_once(" --").unwrap();
            let words = words(line).unwrap();
            let found = spelled(&words, Some(version.parse().unwrap())).join(" ");
            assert_eq!(found, format!("{start} {expected}"));
            assert_eq!(spelled(&words, None), words);
        }
    }
}
