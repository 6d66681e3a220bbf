//! The repetition that a kernel starts in.

use anyhow::Result;

use crate::analysis::iterations::{Phase, phases};
use crate::derive::Frames;
use crate::derive::repeating::iterations::{self, Iteration};

/// The repetitions of a process in order, with their phases.
pub(crate) struct Repetitions {
    pub all: Vec<Iteration>,
    phases: Vec<Phase>,
}

impl Repetitions {
    /// Finds them.
    ///
    /// # Errors
    /// When a needed column is missing or has another type.
    pub(crate) fn find(tables: &Frames) -> Result<Self> {
        let all = iterations::find(tables)?;
        let phases = phases(&iterations::durations(&all));
        Ok(Self { all, phases })
    }

    /// The one that something starts in.
    pub(crate) fn at(&self, start_ns: i64) -> Option<usize> {
        let after = self.all.partition_point(|one| one.start_ns <= start_ns);
        let place = after.checked_sub(1)?;
        self.all.get(place).filter(|one| start_ns < one.end_ns).map(|_| place)
    }

    /// The place of its phase among all.
    pub(crate) fn phase(&self, place: usize) -> Option<usize> {
        let own = self.phases.get(place)?;
        Phase::ALL.iter().position(|phase| phase == own)
    }

    /// The words of all phases.
    pub(crate) fn words() -> Vec<Option<String>> {
        Phase::ALL.iter().map(|phase| Some(phase.word().to_owned())).collect()
    }
}
