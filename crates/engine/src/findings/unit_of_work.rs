//! The unit of work with its evidence, and others that a trace offers.

use super::answers::Answers;
use super::questions::{programs, units};
use super::rule_context::Rows;
use super::run_views::evidence_words;
use super::texts::counted;
use wavesieve_model::analysis::counter_plan::quoted;

/// The units of work over the processes of the run: those that most of them have, with the counts of these.
#[derive(Clone, Debug)]
pub struct UnitOfWork {
    /// The one that iterations, layers and parts of the run are of; `None` if no unit is claimed.
    pub chosen: Option<OfferedUnit>,
    /// Others that can be chosen.
    pub others: Vec<OfferedUnit>,
}

/// The ranks of the run, without those of programs next to it.
pub(super) struct RunRanks {
    /// First and last rank of each program, and whether its ranks are compared.
    programs: Vec<(i64, i64, bool)>,
}

impl RunRanks {
    pub fn new(answers: &Answers) -> Self {
        let rows = answers.rows(programs());
        let program = |row: usize| {
            let (first, last) = (rows.integer(row, "first_rank")?, rows.integer(row, "last_rank")?);
            Some((first, last, rows.text(row, "compared") == Some("yes")))
        };
        Self { programs: rows.places().filter_map(program).collect() }
    }

    /// Whether a rank is one of them. Every rank is if no program is the run.
    pub fn contains(&self, rank: Option<i64>) -> bool {
        let Some(rank) = rank.filter(|_| self.programs.iter().any(|(.., is_compared)| *is_compared)) else {
            return true;
        };
        // Another program may have a rank between those of the run.
        let around = self.programs.iter().filter(|(first, last, _)| (*first..=*last).contains(&rank));
        around.min_by_key(|(first, last, _)| last - first).is_none_or(|(.., is_compared)| *is_compared)
    }
}

/// A unit of work that a trace offers.
#[derive(Clone, Debug)]
pub struct OfferedUnit {
    /// `step`, `replay`, `iteration`, `repetition`, `layer` or `range`.
    pub unit: String,
    /// Text of the ranges.
    pub name: Option<String>,
    /// Evidence, as in the table `units`.
    pub found_by: String,
    /// Units of the processes that have them.
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
        let ranks = RunRanks::new(answers);
        // With the number of processes.
        let mut chosen: Vec<(usize, OfferedUnit)> = Vec::new();
        let mut others: Vec<OfferedUnit> = Vec::new();
        for row in rows.places().filter(|row| ranks.contains(rows.integer(*row, "rank"))) {
            let offered = OfferedUnit::of_row(&rows, row)?;
            if rows.integer(row, "is_chosen") != Some(1) {
                offered.add_to(&mut others);
                continue;
            }
            let is_same = |other: &OfferedUnit| other.option == offered.option && other.found_by == offered.found_by;
            match chosen.iter_mut().find(|(_, other)| is_same(other)) {
                Some((processes, other)) => {
                    *processes += 1;
                    other.join(&offered);
                }
                None => chosen.push((1, offered)),
            }
        }
        // Those of most processes come first, equals in their order.
        chosen.sort_by_key(|(processes, _)| std::cmp::Reverse(*processes));
        let mut chosen = chosen.into_iter().map(|(_, offered)| offered);
        let first = chosen.next();
        // Some processes may have other units.
        let mut all_others = Vec::new();
        for other in chosen.chain(others) {
            if first.as_ref().is_none_or(|first| first.option != other.option) {
                other.add_to(&mut all_others);
            }
        }
        (first.is_some() || !all_others.is_empty()).then_some(Self { chosen: first, others: all_others })
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

    /// Adds it to those with its option, or at the end.
    fn add_to(self, known: &mut Vec<Self>) {
        match known.iter_mut().find(|other| other.option == self.option) {
            Some(other) => other.join(&self),
            None => known.push(self),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_next_to_the_run_are_left_out() {
        let of_run = |programs: &[(i64, i64, bool)]| -> Vec<i64> {
            let ranks = RunRanks { programs: programs.to_vec() };
            (0..5).filter(|rank| ranks.contains(Some(*rank))).collect()
        };
        assert_eq!(of_run(&[(0, 0, false), (1, 4, true)]), [1, 2, 3, 4]);
        assert_eq!(of_run(&[(0, 4, true), (2, 2, false)]), [0, 1, 3, 4]);
        let all = [0, 1, 2, 3, 4];
        assert_eq!((of_run(&[]), of_run(&[(0, 1, false), (2, 4, false)])), (all.to_vec(), all.to_vec()));
    }
}
