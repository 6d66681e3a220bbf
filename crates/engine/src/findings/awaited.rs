//! GPUs that others may wait for.

use std::collections::BTreeSet;

use super::answers::Answers;
use super::questions::{programs, time_question};
use super::spans::{GpuKey, gpu_of};
use wavesieve_tables::trace::views::View;

/// The GPUs that communicate, without those of programs next to the run: nothing in it waits for them.
pub(super) fn awaited_gpus(answers: &Answers, view: View) -> BTreeSet<GpuKey> {
    let programs = answers.rows(programs());
    let is_in = |rank: i64, compared: &str| {
        programs.places().any(|row| {
            let is_from = programs.integer(row, "first_rank").is_some_and(|first| first <= rank);
            let is_to = programs.integer(row, "last_rank").is_some_and(|last| rank <= last);
            is_from && is_to && programs.text(row, "compared") == Some(compared)
        })
    };
    let times = answers.rows(time_question().of_view(view));
    let communicates = |row: &usize| times.integer(*row, "comm_ns").is_some_and(|ns| ns > 0);
    let gpus = times.places().filter(communicates).map(|row| gpu_of(&times, row));
    gpus.filter(|(rank, _)| is_in(*rank, "yes") || !is_in(*rank, "no")).collect()
}
