//! Puts causes before their symptoms: `share/finding_causes.toml`.

use std::collections::BTreeSet;

use anyhow::Result;
use serde::Deserialize;

use super::finding::Finding;

const CAUSES: &str = data!("share/finding_causes.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CausesFile {
    least_part_pct: f64,
    cause: Vec<Cause>,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cause {
    rule: String,
    symptoms: Vec<String>,
    #[serde(default)]
    same_rank: bool,
    #[serde(default)]
    any_rank: bool,
}

impl Cause {
    /// The part of a symptom that a cause explains, as wall clock; `None` if it does not. Only what holds up an awaited rank affects others.
    fn part(&self, cause: &Finding, symptom: &Finding, awaited: &BTreeSet<i64>) -> Option<f64> {
        let saved = |finding: &Finding| finding.saving.as_ref().map(|saving| saving.wall.whole_ns() as f64);
        let is_meant = self.rule == cause.rule && self.symptoms.contains(&symptom.rule);
        let is_of_rank = match symptom.rank {
            Some(rank) => cause.rank == Some(rank) || self.any_rank && cause.rank.is_none(),
            None => cause.rank.is_some_and(|rank| awaited.contains(&rank)) && !self.same_rank,
        };
        (is_meant && is_of_rank).then_some(saved(cause)? / saved(symptom)?.max(1.0))
    }
}

/// Moves each symptom behind its cause, which matters at least as much, and lets it name the cause. The findings are in order otherwise.
/// `awaited`: ranks that others may wait for.
///
/// # Errors
/// When the file of the binary is wrong, which the tests exclude.
pub(super) fn put_causes_first(findings: &mut Vec<Finding>, awaited: &BTreeSet<i64>) -> Result<()> {
    let CausesFile { least_part_pct, cause: causes, .. } = toml::from_str(CAUSES)?;
    let part = |cause: &Finding, symptom: &Finding| {
        let parts = causes.iter().filter_map(|one| one.part(cause, symptom, awaited));
        parts.fold(None, |most: Option<f64>, part| Some(most.map_or(part, |most| most.max(part))))
    };
    let explains =
        |cause: &Finding, symptom: &Finding| part(cause, symptom).is_some_and(|part| part * 100.0 >= least_part_pct);
    // A move may put a cause behind one of its own causes; no rule is a cause of itself by others.
    for _ in 0..findings.len() {
        let late = (0..findings.len()).find_map(|place| {
            let cause = findings.get(place)?;
            let before = findings.get(..place)?;
            before.iter().position(|symptom| explains(cause, symptom)).map(|first| (place, first))
        });
        let Some((place, first)) = late else { break };
        let mut cause = findings.remove(place);
        if let Some(symptom) = findings.get(first) {
            cause.priority = cause.priority.min(symptom.priority);
        }
        findings.insert(first, cause);
    }
    let mut explained: Vec<(usize, String, String)> = Vec::new();
    for (place, symptom) in findings.iter().enumerate() {
        let causes = findings.get(..place).unwrap_or_default().iter().enumerate();
        let mut found = causes.filter(|(_, cause)| explains(cause, symptom));
        if let Some((number, cause)) = found.next() {
            let much = if part(cause, symptom).is_some_and(|part| part >= 0.5) { "mostly" } else { "partly" };
            let text = format!(" It is {much} a consequence of finding {}.", number + 1);
            explained.push((place, cause.id.clone(), text));
        }
    }
    for (place, cause, text) in explained {
        if let Some(symptom) = findings.get_mut(place) {
            symptom.cause = Some(cause);
            symptom.explanation.push_str(&text);
        }
    }
    Ok(())
}
