//! GPU activities against the API calls that launched them.

use anyhow::Result;
use polars::prelude::DataFrame;

use crate::trace::source::{Anomaly, Severity};

/// An activity on the GPU that names the call that launched it.
struct Activity {
    table: &'static str,
    key: i64,
    correlation_id: i64,
    start_ns: i64,
}

/// Calls and activities of one process.
#[derive(Default)]
pub struct Correlations {
    /// Correlation id and earliest start of every call.
    calls: Vec<(i64, i64)>,
    activities: Vec<Activity>,
    uncorrelated: Vec<(&'static str, i64, i64)>,
}

impl Correlations {
    /// Adds the rows of `regions`.
    ///
    /// # Errors
    /// When a declared column is missing or has another type.
    pub fn add_calls(&mut self, regions: &DataFrame) -> Result<()> {
        let ids = regions.column("correlation_id")?.i64()?;
        let starts = regions.column("start_ns")?.i64()?;
        self.calls.extend(ids.iter().zip(starts.iter()).filter_map(|(id, start)| id.zip(start)));
        Ok(())
    }

    /// Adds valid rows of `kernels` or `memory_copies`.
    ///
    /// # Errors
    /// When a declared column is missing or has another type.
    pub fn add_activities(&mut self, table: &'static str, key: &str, frame: &DataFrame) -> Result<()> {
        let keys = frame.column(key)?.i64()?;
        let ids = frame.column("correlation_id")?.i64()?;
        let starts = frame.column("start_ns")?.i64()?;
        let valid = frame.column("valid")?.bool()?;
        let (mut without, mut first) = (0, i64::MAX);
        for (((key, id), start), valid) in keys.iter().zip(ids.iter()).zip(starts.iter()).zip(valid.iter()) {
            let (Some(key), Some(start_ns), Some(true)) = (key, start, valid) else { continue };
            match id {
                Some(correlation_id) => self.activities.push(Activity { table, key, correlation_id, start_ns }),
                None => {
                    without += 1;
                    first = first.min(key);
                }
            }
        }
        if without > 0 {
            self.uncorrelated.push((table, without, first));
        }
        Ok(())
    }

    /// Compares both sides. Without any call there is nothing to compare with, and nothing is said.
    pub fn check(mut self) -> Vec<Anomaly> {
        if self.calls.is_empty() {
            return Vec::new();
        }
        self.calls.sort_unstable();
        self.calls.dedup_by_key(|(id, _)| *id);
        let mut anomalies = Vec::new();
        let mut note = |check_id, severity, table: &str, count: i64, first: i64, detail: &str| {
            anomalies.push(Anomaly {
                check_id,
                severity,
                table_name: table.to_owned(),
                count,
                first_key: Some(first.to_string()),
                detail: detail.to_owned(),
            });
        };
        for (table, count, first) in &self.uncorrelated {
            note("no_correlation", Severity::Info, table, *count, *first, "rows name no api call that launched them");
        }
        for table in ["kernels", "memory_copies"] {
            let (mut unmatched, mut early) = ((0, i64::MAX), (0, i64::MAX));
            for activity in self.activities.iter().filter(|activity| activity.table == table) {
                let call = self.calls.binary_search_by_key(&activity.correlation_id, |(id, _)| *id);
                let start = call.ok().and_then(|at| self.calls.get(at)).map(|(_, start)| *start);
                match start {
                    None => unmatched = (unmatched.0 + 1, unmatched.1.min(activity.key)),
                    Some(start) if activity.start_ns < start => early = (early.0 + 1, early.1.min(activity.key)),
                    Some(_) => {}
                }
            }
            if unmatched.0 > 0 {
                let detail = "rows name an api call that was not recorded, as after an interrupted run; launch times are unknown";
                note("unmatched_correlation", Severity::Warning, table, unmatched.0, unmatched.1, detail);
            }
            if early.0 > 0 {
                let detail = "rows start before the api call that launched them; the clocks of host and gpu may differ";
                note("starts_before_launch", Severity::Warning, table, early.0, early.1, detail);
            }
        }
        anomalies
    }
}
