//! Conclusions from patterns: `share/source_advice.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::commands::{Command, CommandForm, Target, commands};

const ADVICE: &str = data!("share/source_advice.toml");
/// Placeholder for an unknown program.
const UNKNOWN_PROGRAM: &str = "./app";

/// The urgency of an advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Priority {
    /// Do it first.
    High,
    /// Do it next.
    Medium,
    /// Do it at some time.
    Low,
    /// Not urgent.
    Info,
}

/// An advice for the scanned source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recommendation {
    /// An id that stays the same from release to release.
    pub id: String,
    /// How urgent it is.
    pub priority: Priority,
    /// Its subject.
    pub category: String,
    /// The observed issue.
    pub issue: String,
    /// The suggested remedy.
    pub suggestion: String,
    /// Single steps.
    pub actions: Vec<String>,
    /// The estimated gain.
    pub estimated_impact: String,
    /// How certain it is, from 0 to 1.
    pub confidence: f64,
    /// Commands that measure it, without those of a more urgent advice.
    pub commands: Vec<Command>,
    /// All commands that measure it.
    #[serde(skip)]
    pub all_commands: Vec<Command>,
    /// How to recognize it in a trace.
    #[serde(skip)]
    pub trace_evidence: TraceEvidence,
}

/// How to recognize the subject of an advice in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TraceEvidence {
    /// Kinds of records that are all required to recognize it; if empty, no trace reveals it.
    pub records: Vec<String>,
    /// Kinds of records any of which rules it out.
    pub against: Vec<String>,
    /// Rules that find the same problem in traces.
    pub rules: Vec<String>,
    /// Patterns whose places help to resolve the findings of these rules.
    pub patterns: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct AdviceFile {
    program: Vec<ProgramForm>,
    counters: Vec<CounterForm>,
    risk: Vec<RiskForm>,
    advice: Vec<AdviceForm>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramForm {
    models: Vec<String>,
    words: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CounterForm {
    names: Vec<String>,
    #[serde(default)]
    when: When,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RiskForm {
    text: String,
    #[serde(default)]
    when: When,
    #[serde(default)]
    last: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AdviceForm {
    id: String,
    confidence: f64,
    category: String,
    priority: Priority,
    #[serde(default)]
    when: When,
    #[serde(default)]
    trace: TraceEvidence,
    #[serde(default)]
    last: bool,
    issue: String,
    suggestion: String,
    actions: Vec<String>,
    impact: String,
    #[serde(default)]
    command: Vec<CommandForm>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct When {
    any: Vec<String>,
    all: Vec<String>,
    none: Vec<String>,
    models: Vec<String>,
}

/// Facts about the source.
#[derive(Debug)]
pub struct Facts {
    /// How often each role occurs.
    pub roles: BTreeMap<String, usize>,
    /// The programming model.
    pub model: String,
}

impl Facts {
    /// Returns how often a role occurs.
    pub fn count(&self, role: &str) -> usize {
        self.roles.get(role).copied().unwrap_or(0)
    }

    /// Returns whether any of these roles occurs.
    pub fn has(&self, roles: &[&str]) -> bool {
        roles.iter().any(|role| self.count(role) > 0)
    }

    fn fits(&self, when: &When) -> bool {
        let has = |role: &String| self.count(role) > 0;
        (when.any.is_empty() || when.any.iter().any(has))
            && when.all.iter().all(has)
            && !when.none.iter().any(has)
            && (when.models.is_empty() || when.models.contains(&self.model))
    }

    /// A text with counts in place of role names.
    fn filled(&self, text: &str) -> String {
        let mut parts = text.split('{');
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            match part.split_once('}') {
                Some((role, rest)) => {
                    filled.push_str(&self.count(role).to_string());
                    filled.push_str(rest);
                }
                None => filled.push_str(part),
            }
        }
        filled
    }
}

fn form() -> &'static AdviceFile {
    static FORM: OnceLock<AdviceFile> = OnceLock::new();
    FORM.get_or_init(|| toml::from_str(ADVICE).unwrap_or_default())
}

/// Counters that are worth collecting, without repetition.
pub fn counters(facts: &Facts) -> Vec<String> {
    let fitting = form().counters.iter().filter(|counters| facts.fits(&counters.when));
    let mut seen = BTreeSet::new();
    fitting.flat_map(|counters| &counters.names).filter(|name| seen.insert(*name)).cloned().collect()
}

/// Parts of the source that may cost time.
pub fn risks(facts: &Facts) -> Vec<String> {
    let mut risks = Vec::new();
    for risk in &form().risk {
        if facts.fits(&risk.when) && (!risk.last || risks.is_empty()) {
            risks.push(facts.filled(&risk.text));
        }
    }
    risks
}

/// The program for commands: the named one, otherwise the usual one for the programming model.
fn program(facts: &Facts, target: &Target) -> Vec<String> {
    if !target.program.is_empty() {
        return target.program.clone();
    }
    let usual = form().program.iter().find(|program| program.models.contains(&facts.model));
    usual.map_or_else(|| vec![UNKNOWN_PROGRAM.to_owned()], |program| program.words.clone())
}

/// Matching advice, the most urgent first. Later commands do not collect the same data again.
pub fn recommendations(facts: &Facts, counters: &[String], target: &Target) -> Vec<Recommendation> {
    let target = &Target { program: program(facts, target), ..target.clone() };
    let mut fitting: Vec<Recommendation> = Vec::new();
    for advice in &form().advice {
        if !facts.fits(&advice.when) || (advice.last && !fitting.is_empty()) {
            continue;
        }
        let all: Vec<Command> = advice.command.iter().flat_map(|form| commands(form, counters, target)).collect();
        fitting.push(Recommendation {
            id: advice.id.clone(),
            priority: advice.priority,
            category: advice.category.clone(),
            issue: facts.filled(&advice.issue),
            suggestion: facts.filled(&advice.suggestion),
            actions: advice.actions.clone(),
            estimated_impact: advice.impact.clone(),
            confidence: advice.confidence,
            commands: all.clone(),
            all_commands: all,
            trace_evidence: advice.trace.clone(),
        });
    }
    fitting.sort_by_key(|advice| advice.priority);
    let mut purposes: BTreeSet<Vec<String>> = BTreeSet::new();
    for advice in &mut fitting {
        let purpose = |command: &Command| command.purpose().into_iter().map(ToOwned::to_owned).collect();
        advice.commands.retain(|command| purposes.insert(purpose(command)));
    }
    fitting
}

#[cfg(test)]
mod tests {
    use super::super::patterns::Patterns;
    use super::*;
    use wavesieve_model::analysis::counter_plan::{check_for, words};

    #[test]
    fn the_table_is_read_and_names_roles_that_exist() {
        let form: AdviceFile = toml::from_str(ADVICE).unwrap();
        let roles: BTreeSet<&String> = Patterns::builtin().all().iter().flat_map(|pattern| &pattern.roles).collect();
        let whens = form.counters.iter().map(|one| &one.when);
        let whens = whens.chain(form.risk.iter().map(|one| &one.when)).chain(form.advice.iter().map(|one| &one.when));
        for when in whens {
            let named = when.any.iter().chain(&when.all).chain(&when.none);
            named.for_each(|role| assert!(roles.contains(role), "{role}"));
        }
        let patterns: BTreeSet<&String> = Patterns::builtin().all().iter().map(|pattern| &pattern.id).collect();
        for advice in &form.advice {
            advice.trace.patterns.iter().for_each(|id| assert!(patterns.contains(id), "{id}"));
        }
        let texts = form.risk.iter().map(|risk| &risk.text).chain(form.advice.iter().map(|advice| &advice.issue));
        for text in texts {
            for part in text.split('{').skip(1) {
                let role = part.split_once('}').expect("a role ends").0;
                assert!(roles.contains(&role.to_owned()), "{role}");
            }
        }
    }

    #[test]
    fn every_command_that_is_ever_advised_is_one_that_its_tool_takes() {
        let roles = Patterns::builtin().all().iter().flat_map(|pattern| pattern.roles.clone());
        let every: BTreeMap<String, usize> = roles.map(|role| (role, 1)).collect();
        let mut tools = BTreeSet::new();
        for (architecture, release) in [
            ("gfx908", None),
            ("gfx90a", Some("6.4")),
            ("gfx942", Some("7.2")),
            ("gfx950", Some("10.0")),
            ("gfx1151", Some("10.2")),
        ] {
            let target = Target {
                architecture: architecture.to_owned(),
                program: vec!["./it's".to_owned(), "$x".to_owned()],
                rocm: release.map(|release| release.parse().unwrap()),
            };
            for model in ["HIP", "PyTorch_HIP", "CUDA"] {
                let mut without = every.clone();
                for roles in [&[][..], &["async_copy", "marker_begin"], &["loop_device_sync"]] {
                    without.retain(|role, _| !roles.contains(&role.as_str()));
                    let facts = Facts { roles: without.clone(), model: model.to_owned() };
                    for advice in recommendations(&facts, &counters(&facts), &target) {
                        for command in advice.commands {
                            let line = &command.full_command;
                            assert_eq!(check_for(&words(line).unwrap(), target.rocm), [], "{line}");
                            tools.insert(command.tool);
                        }
                    }
                }
            }
        }
        assert_eq!(tools.len(), 3, "{tools:?}");
    }
}
