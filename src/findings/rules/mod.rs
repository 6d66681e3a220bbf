//! The rules, by what they look at. Each asks its questions and says what it observes; thresholds and texts are in
//! `share/rules/`.

mod time;

pub use time::time_question;

use super::case::{Case, Observation};
use super::question::Question;

/// A rule.
pub struct Rule {
    /// Its id, by which the rule book knows it.
    pub id: &'static str,
    /// What it asks.
    pub asks: fn() -> Vec<Question>,
    /// What it observes.
    pub judge: fn(&Case<'_>) -> Vec<Observation>,
}

/// All rules.
pub const RULES: &[Rule] = &[
    Rule { id: "host_bound_idle", asks: time::idle_questions, judge: time::host_bound_idle },
    Rule { id: "exposed_copy", asks: time::time_questions, judge: time::exposed_copy },
    Rule { id: "exposed_communication", asks: time::time_questions, judge: time::exposed_communication },
];
