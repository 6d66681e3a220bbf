//! Puts causes before their symptoms: `share/finding_causes.toml`.

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
}

impl Cause {
    fn explains(&self, cause: &Finding, symptom: &Finding, least_part_pct: f64) -> bool {
        let saved = |finding: &Finding| finding.saving.as_ref().map(|saving| saving.wall.whole_ns() as f64);
        let is_much = saved(cause).zip(saved(symptom)).is_some_and(|(own, of)| own * 100.0 >= of * least_part_pct);
        let is_meant = self.rule == cause.rule && self.symptoms.contains(&symptom.rule);
        is_meant && is_much && cause.rank.is_some() && (!self.same_rank || cause.rank == symptom.rank)
    }
}

/// Moves each symptom behind its cause, which matters at least as much, and lets it name the cause. The findings are in order otherwise.
///
/// # Errors
/// When the file of the binary is wrong, which the tests exclude.
pub(super) fn put_causes_first(findings: &mut Vec<Finding>) -> Result<()> {
    let CausesFile { least_part_pct, cause: causes, .. } = toml::from_str(CAUSES)?;
    for cause in &causes {
        let mut place = 0;
        while place < findings.len() {
            let explained = |symptom: &Finding| {
                findings.get(place).is_some_and(|finding| cause.explains(finding, symptom, least_part_pct))
            };
            let id = findings.get(place).map(|finding| finding.id.clone());
            let symptoms: Vec<usize> =
                findings.iter().enumerate().filter(|(_, other)| explained(other)).map(|(other, _)| other).collect();
            for symptom in &symptoms {
                if let Some(symptom) = findings.get_mut(*symptom) {
                    symptom.cause = symptom.cause.take().or_else(|| id.clone());
                }
            }
            if let Some(first) = symptoms.first().copied().filter(|first| *first < place) {
                let mut finding = findings.remove(place);
                if let Some(symptom) = findings.get(first) {
                    finding.priority = finding.priority.min(symptom.priority);
                }
                findings.insert(first, finding);
            }
            place += 1;
        }
    }
    let ids: Vec<String> = findings.iter().map(|finding| finding.id.clone()).collect();
    for finding in findings {
        let number = finding.cause.as_ref().and_then(|cause| ids.iter().position(|id| id == cause));
        if let Some(number) = number {
            finding.explanation.push_str(&format!(" It is mostly a consequence of finding {}.", number + 1));
        }
    }
    Ok(())
}
