//! Keeps or reverts an edit, based on its measurement.

use serde_json::json;

use super::driver::Machine;
use super::error::Halt;
use super::records::{Blacklisted, EditStatus};
use super::state::Phase;
use crate::interactive::face::Level;

impl Machine<'_> {
    /// Asks whether the measured edit stays.
    pub fn judge(&mut self) -> Result<Phase, Halt> {
        let Some(edit) = self.state.open_edit().cloned() else { return Ok(Phase::Menu) };
        let judged =
            self.state.latest().filter(|latest| latest.edit == Some(edit.id)).and_then(|one| one.judged.clone());
        let verdict = judged.as_ref().map_or("not compared", |judged| judged.verdict.as_str()).to_owned();
        let choices = [
            ("k", "keep the edit"),
            ("v", "take it back"),
            ("b", "take it back, and never let a model suggest it again"),
        ];
        // By default, only an edit that is certainly faster stays.
        let default = match verdict.as_str() {
            "faster" => "k",
            "slower" => "b",
            _ => "v",
        };
        let text = format!("{}: {verdict}", edit.summary);
        let answer = self.choose("edit.judge", text, &choices, Some(default))?;
        self.event("edit_judged", json!({ "edit": edit.id, "verdict": verdict, "answer": answer }));
        let pct = judged.and_then(|judged| judged.delta_pct);
        match answer.as_str() {
            "b" => {
                self.take_back(EditStatus::Reverted, &format!("measured {verdict}"))?;
                self.blacklist(&edit.summary, pct, &verdict);
            }
            "v" => drop(self.take_back(EditStatus::Reverted, &format!("measured {verdict}"))?),
            _ => {
                if let Some(open) = self.state.open_edit_mut() {
                    open.status = EditStatus::Kept;
                }
            }
        }
        self.state.origin = None;
        self.state.repairs = 0;
        Ok(Phase::Menu)
    }

    /// Records a suggestion that must not be repeated, once.
    pub fn blacklist(&mut self, summary: &str, delta_pct: Option<f64>, verdict: &str) {
        let entry = blacklisted(summary, delta_pct, verdict);
        if self.state.blacklist.contains(&entry) {
            return;
        }
        self.event("blacklisted", json!({ "category": entry.category, "description": entry.description }));
        self.say(Level::Note, format!("not to be suggested again: {}", entry.category));
        self.state.blacklist.push(entry);
    }
}

/// The text for a model about a suggestion that must not be repeated.
pub fn blacklisted(summary: &str, delta_pct: Option<f64>, verdict: &str) -> Blacklisted {
    let change = match delta_pct {
        Some(pct) => format!("was measured as {verdict} ({pct:+}% of the time saved)"),
        None => format!("was measured as {verdict}"),
    };
    Blacklisted { category: summary.to_owned(), description: format!("'{summary}' {change}; do not suggest it again") }
}

/// The lines about all such suggestions, each once; empty if there are none.
pub(crate) fn blacklist_block(blacklist: &[Blacklisted]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for entry in blacklist {
        if !lines.contains(&entry.description) {
            lines.push(entry.description.clone());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_not_come_again_is_named_once() {
        let one = blacklisted("unroll by 8", Some(-67.0), "slower");
        assert_eq!(one.category, "unroll by 8");
        assert!(one.description.contains("-67"), "{one:?}");
        assert_eq!(blacklist_block(&[one.clone(), one]).len(), 1);
        assert!(blacklist_block(&[]).is_empty());
    }
}
