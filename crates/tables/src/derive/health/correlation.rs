//! Compares GPU activities with the API calls that launched them.

use anyhow::Result;
use itertools::izip;
use polars::prelude::DataFrame;

use crate::columns::values::{BoolValues, FrameValues, I64Values};
use crate::derive::launching::launching_calls::no_calls;
use wavesieve_model::analysis::numbering::by_id::ById;
use wavesieve_model::schema::anomaly::{Anomaly, Severity};

const NO_CALL: i64 = i64::MAX;

/// Rows of `kernels` or `memory_copies`, which share the memory of the table's columns.
struct Activities {
    table: &'static str,
    keys: I64Values,
    ids: I64Values,
    starts: I64Values,
    valid: BoolValues,
}

impl Activities {
    /// Key, correlation id and start of every valid row.
    fn rows(&self) -> impl Iterator<Item = (i64, Option<i64>, i64)> {
        let rows = izip!(self.keys.iter(), self.ids.iter(), self.starts.iter(), self.valid.iter());
        rows.filter_map(|(key, id, start, valid)| match (key, start, valid) {
            (Some(key), Some(start_ns), Some(true)) => Some((key, id, start_ns)),
            _ => None,
        })
    }
}

/// Calls and activities of one process.
#[derive(Default)]
pub(crate) struct Correlations {
    /// Correlation ids and starts of the calls.
    calls: Vec<(I64Values, I64Values)>,
    /// Lowest id of a call of an interface: ids of marker ranges come late, as launches before the first range may not be recorded.
    first_id: Option<i64>,
    activities: Vec<Activities>,
}

impl Correlations {
    /// Adds the rows of `regions`.
    pub fn add_calls(&mut self, regions: &DataFrame) -> Result<()> {
        let ids = regions.integer("correlation_id")?;
        let no_call = BoolValues::new(&no_calls(regions)?);
        let starts = regions.integer("start_ns")?;
        let of_calls = izip!(ids.iter(), starts.iter(), no_call.iter()).filter_map(|(id, start, no_call)| {
            let is_call = start.is_some() && no_call != Some(true);
            id.filter(|id| is_call && *id > 0)
        });
        let first_id = of_calls.min();
        self.first_id = self.first_id.into_iter().chain(first_id).min();
        self.calls.push((ids, starts));
        Ok(())
    }

    /// Adds valid rows of `kernels` or `memory_copies`.
    pub(crate) fn add_activities(&mut self, table: &'static str, key: &str, frame: &DataFrame) -> Result<()> {
        self.activities.push(Activities {
            table,
            keys: frame.integer(key)?,
            ids: frame.integer("correlation_id")?,
            starts: frame.integer("start_ns")?,
            valid: frame.truths("valid")?,
        });
        Ok(())
    }

    /// Compares both sides. Without calls, nothing is reported.
    pub fn check(self) -> Vec<Anomaly> {
        let each = || {
            let calls = self.calls.iter().flat_map(|(ids, starts)| ids.iter().zip(starts.iter()));
            calls.filter_map(|(id, start)| Some((id?, start?.min(NO_CALL - 1))))
        };
        let earliest = ById::new(each, NO_CALL, i64::min);
        if earliest.is_empty() {
            return Vec::new();
        }
        // Ids rise with time, so that work with a lower one was launched before the first recorded call.
        let first_id = self.first_id.unwrap_or_default();
        let mut anomalies = Vec::new();
        for activities in &self.activities {
            let [mut without, mut before, mut unmatched, mut early] = [(0, i64::MAX); 4];
            for (key, id, start_ns) in activities.rows() {
                let tally = match id.map(|id| earliest.get(id)) {
                    None => &mut without,
                    Some(None) if id.is_some_and(|id| (1..first_id).contains(&id)) => &mut before,
                    Some(None) => &mut unmatched,
                    Some(Some(call_ns)) if start_ns < call_ns => &mut early,
                    Some(Some(_)) => continue,
                };
                *tally = (tally.0 + 1, tally.1.min(key));
            }
            let mut note = |check_id, severity, (count, first): (usize, i64), detail: &str| {
                if count > 0 {
                    let found = Anomaly::new(check_id, severity, activities.table, count, detail.to_owned());
                    anomalies.push(found.first(Some(first)));
                }
            };
            note("no_correlation", Severity::Info, without, "rows have no launching API call");
            let detail = "rows were launched before recording began, so that their API calls are not recorded";
            note("launched_before_recording", Severity::Info, before, detail);
            let detail = "rows refer to an API call that was not recorded, as after an interrupted run; launch times are unknown";
            note("unmatched_correlation", Severity::Warning, unmatched, detail);
            let detail = "rows start before the API call that launched them; the clocks of host and GPU may differ";
            note("starts_before_launch", Severity::Warning, early, detail);
        }
        anomalies
    }
}
