//! The loop: chooses a configuration, runs it, and records the result.

use std::time::{Duration, Instant};

use super::error::AutotuneError;
use super::halving::Verdict;
use super::history::{History, Outcome};
use super::search::{Search, SearchStep};
use super::space::Space;
use super::state::State;

/// After this many failures in a row, the command is considered wrong.
const MAX_FAILURES: usize = 20;
/// The share of the time after which no new configurations run, so that the promising ones can run again.
const EXPLORING: f64 = 0.75;

#[derive(Debug)]
pub enum Measurement {
    Outcome(Outcome),
    /// The user stopped the run; it does not count.
    Interrupted,
    /// No configuration can be measured, for this reason.
    Impossible(String),
}

/// Reasons why a search ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Stopped {
    /// The search completed.
    Finished(Verdict),
    /// The time ran out.
    Budget,
    Interrupted,
    /// None of the first configurations worked.
    NothingWorks,
    Impossible(String),
}

/// Runs the search until it completes, the time runs out, or the user stops it.
///
/// # Errors
/// When results cannot be written.
pub fn tune(
    space: &Space,
    search: &mut Search<'_>,
    history: &mut History,
    mut state: Option<&mut State>,
    budget: Option<Duration>,
    measure: &mut dyn FnMut(usize) -> Measurement,
    on_run: &mut dyn FnMut(&History, usize, &Outcome),
) -> Result<Stopped, AutotuneError> {
    let begin = Instant::now();
    loop {
        if let Some(budget) = budget {
            if begin.elapsed() >= budget {
                return Ok(Stopped::Budget);
            }
            if begin.elapsed() >= budget.mul_f64(EXPLORING) {
                search.stop_exploring();
            }
        }
        if history.order().len() >= MAX_FAILURES && history.measured().next().is_none() {
            return Ok(Stopped::NothingWorks);
        }
        let configuration = match search.step(history) {
            SearchStep::Run(configuration) => configuration,
            SearchStep::Done(verdict) => return Ok(Stopped::Finished(verdict)),
        };
        let start = Instant::now();
        match measure(configuration) {
            Measurement::Outcome(outcome) => {
                let outcome = written(outcome);
                if let Some(state) = state.as_deref_mut() {
                    state.add(space, configuration, &outcome, start.elapsed().as_secs_f64())?;
                }
                history.add(configuration, &outcome);
                on_run(history, configuration, &outcome);
            }
            Measurement::Interrupted => return Ok(Stopped::Interrupted),
            Measurement::Impossible(reason) => return Ok(Stopped::Impossible(reason)),
        }
    }
}

/// The outcome as read back from the file of results: the JSON reader is not exact to the last bit of longer numbers.
fn written(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Value(value) => Outcome::Value(format!("{value:.11e}").parse().unwrap_or(value)),
        failed @ Outcome::Failed(_) => failed,
    }
}
