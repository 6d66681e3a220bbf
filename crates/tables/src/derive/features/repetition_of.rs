//! The repetition that a kernel starts in.

use anyhow::Result;

use crate::derive::Frames;
use crate::derive::repeating::periods::Iteration;
use crate::derive::repeating::units::Units;
use wavesieve_model::analysis::iterations::Phase;

/// The repetitions of a process in order, with their phases.
pub struct Repetitions {
    pub all: Vec<Iteration>,
    phases: Vec<Phase>,
    /// Starts with their places, in order: repetitions follow the order of launches, which may differ from the order of starts.
    starts: Vec<(i64, usize)>,
}

impl Repetitions {
    /// Finds the repetitions of a process.
    ///
    /// # Errors
    /// When a needed column is missing or has another type.
    pub fn find(tables: &Frames) -> Result<Self> {
        let units = Units::find(tables)?;
        let phases = units.phases();
        let all = units.all;
        let mut starts: Vec<(i64, usize)> = all.iter().map(|one| one.start_ns).zip(0..).collect();
        starts.sort_unstable();
        Ok(Self { all, phases, starts })
    }

    /// The repetition that contains a start.
    pub fn at(&self, start_ns: i64) -> Option<usize> {
        let after = self.starts.partition_point(|(begun_ns, _)| *begun_ns <= start_ns);
        let (_, place) = *self.starts.get(after.checked_sub(1)?)?;
        self.all.get(place).filter(|one| start_ns < one.end_ns).map(|_| place)
    }

    /// The index of the phase of a repetition.
    pub fn phase(&self, place: usize) -> Option<usize> {
        let own = self.phases.get(place)?;
        Phase::ALL.iter().position(|phase| phase == own)
    }

    /// The words of all phases.
    pub fn words() -> [&'static str; Phase::ALL.len()] {
        Phase::ALL.map(Phase::word)
    }
}
