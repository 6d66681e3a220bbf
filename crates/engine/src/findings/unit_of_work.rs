//! The unit of work with its evidence, and others that a trace offers.

use super::answers::Answers;
use super::questions::units;
use super::rule_context::Rows;
use super::run_views::evidence_words;
use super::texts::counted;
use wavesieve_model::analysis::counter_plan::quoted;

/// The units of work over all processes: those of the first one, with the counts of all processes.
#[derive(Clone, Debug)]
pub struct UnitOfWork {
    /// The one that iterations, layers and parts of the run are of; `None` if no unit is claimed.
    pub chosen: Option<OfferedUnit>,
    /// Others that can be chosen.
    pub others: Vec<OfferedUnit>,
}

/// A unit of work that a trace offers.
#[derive(Clone, Debug)]
pub struct OfferedUnit {
    /// `step`, `replay`, `iteration`, `layer` or `range`.
    pub unit: String,
    /// Text of the ranges.
    pub name: Option<String>,
    /// Evidence, as in the table `units`.
    pub found_by: String,
    /// Units of all processes.
    pub count: i64,
    /// Share of their kernel time, the least of all processes.
    pub covered_pct: f64,
    /// `high`, `medium` or `low`.
    pub confidence: String,
    /// Value of `--unit` that chooses it.
    pub option: String,
}

impl UnitOfWork {
    /// The units of an answer; `None` without any.
    pub(crate) fn new(answers: &Answers) -> Option<Self> {
        let rows = answers.rows(units());
        let (mut chosen, mut others): (Vec<OfferedUnit>, Vec<OfferedUnit>) = (Vec::new(), Vec::new());
        for row in rows.places() {
            let offered = OfferedUnit::of_row(&rows, row)?;
            let known = if rows.integer(row, "is_chosen") == Some(1) { &mut chosen } else { &mut others };
            match known.iter_mut().find(|other| other.option == offered.option) {
                Some(other) => other.join(&offered),
                None => known.push(offered),
            }
        }
        let mut chosen = chosen.into_iter();
        let first = chosen.next();
        let is_other = |other: &OfferedUnit| first.as_ref().is_none_or(|first| first.option != other.option);
        // Some processes may have other units than the first one.
        let others: Vec<OfferedUnit> = chosen.chain(others).filter(is_other).collect();
        (first.is_some() || !others.is_empty()).then_some(Self { chosen: first, others })
    }

    /// It and the others, in a line.
    pub fn line(&self) -> String {
        let chosen = match &self.chosen {
            Some(chosen) => {
                let covered = format!("{:.0}% of kernel time", chosen.covered_pct);
                let evidence = evidence_words(&chosen.found_by);
                format!("{}, {evidence}, {covered}, {} confidence", chosen.noun(), chosen.confidence)
            }
            None => "none claimed".to_owned(),
        };
        let other = |other: &OfferedUnit| format!("{} (--unit {})", other.counted(), quoted(&other.option));
        let others: Vec<String> = self.others.iter().map(other).collect();
        if others.is_empty() { chosen } else { format!("{chosen}; also: {}", others.join(", ")) }
    }
}

impl OfferedUnit {
    fn of_row(rows: &Rows<'_>, row: usize) -> Option<Self> {
        let text = |column: &str| rows.text(row, column).map(str::to_owned);
        Some(Self {
            unit: text("unit")?,
            name: text("name"),
            found_by: text("found_by")?,
            count: rows.integer(row, "count")?,
            covered_pct: rows.number(row, "covered_pct").unwrap_or_default(),
            confidence: text("confidence")?,
            option: text("option")?,
        })
    }

    /// Adds those of another process.
    fn join(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.covered_pct = self.covered_pct.min(other.covered_pct);
        let rank = |word: &str| ["high", "medium", "low"].iter().position(|known| *known == word);
        if rank(&other.confidence) > rank(&self.confidence) {
            self.confidence.clone_from(&other.confidence);
        }
    }

    fn noun(&self) -> String {
        self.name.as_ref().map_or_else(|| self.unit.clone(), |name| format!("range {name}"))
    }

    fn counted(&self) -> String {
        match &self.name {
            Some(name) => format!("{} {name}", counted(self.count as f64, "range")),
            None => counted(self.count as f64, &self.unit),
        }
    }
}
