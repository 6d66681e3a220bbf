//! Ranks of the job that the inputs lack.

use std::collections::BTreeSet;

use super::answers::Answers;
use super::query_request::QueryRequest;
use super::questions::time_question;
use super::texts::counted;
use wavesieve_model::schema::facts::Role;
use wavesieve_tables::trace::Trace;

/// The query whose rows have the sizes of communicators.
pub(super) const COMMUNICATORS: &str = "collective_by_size";

/// How many ranks of the job are present, where some are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingRanks {
    /// Ranks of the inputs, chosen or not; GPUs if only communicators show that some are missing.
    pub present: i64,
    /// Ranks of the job.
    pub size: i64,
    /// Whether there may be more: a communicator need not have all.
    pub is_least: bool,
}

impl MissingRanks {
    /// By what the processes state, otherwise by the largest communicator. `None` if nothing shows that ranks are missing.
    pub(super) fn new(trace: &Trace, answers: &Answers) -> Option<Self> {
        let traced = || trace.members().iter().filter(|member| member.process.role == Role::Trace);
        let stated = traced().filter_map(|member| member.process.facts.world_size).max();
        if let Some(size) = stated {
            return Self::among(trace.all_ranks().len() as i64, size, false);
        }
        // Ranks that were not chosen may have the other GPUs.
        let chosen: BTreeSet<i64> = traced().map(|member| member.process.rank).collect();
        if chosen.len() < trace.all_ranks().len() {
            return None;
        }
        let rows = answers.rows(QueryRequest::new(COMMUNICATORS));
        let size = rows.places().filter_map(|row| rows.integer(row, "ranks")).max()?;
        Self::among(answers.rows(time_question()).places().len() as i64, size, true)
    }

    fn among(present: i64, size: i64, is_least: bool) -> Option<Self> {
        (present < size).then_some(Self { present, size, is_least })
    }

    /// The sentence about findings that compare ranks.
    pub fn text(&self) -> String {
        let least = if self.is_least { "at least " } else { "" };
        let are = if self.present == 1 { "is" } else { "are" };
        format!(
            "Only {} of {least}{} {are} present: another one may be slower or later.",
            self.present,
            counted(self.size as f64, "rank")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_ranks_are_counted() {
        let text = |present: i64, size: i64, is_least: bool| {
            MissingRanks::among(present, size, is_least).map(|missing| missing.text())
        };
        let rest = "present: another one may be slower or later.";
        assert_eq!(text(2, 128, false), Some(format!("Only 2 of 128 ranks are {rest}")));
        assert_eq!(text(1, 1200, true), Some(format!("Only 1 of at least 1,200 ranks is {rest}")));
        assert_eq!([text(8, 8, false), text(9, 8, true)], [None, None]);
    }
}
