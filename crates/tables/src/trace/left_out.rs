//! Rows that results exclude because their times are invalid.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use parking_lot::Mutex;
use polars::prelude::{DslPlan, LazyFrame, col};

use super::lazy_trace::{Trace, TraceProcess};
use crate::columns::frames::collected;
use crate::columns::requests::Request;
use crate::derive::health::ANOMALIES;
use crate::derive::source_request;
use wavesieve_model::schema;
use wavesieve_model::schema::Table;

/// The column that shows whether the times of a row are valid.
const VALID: &str = "valid";

/// Invalid rows and all rows of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Rows whose times are invalid.
    pub invalid: u64,
    /// All rows.
    pub all: u64,
}

impl LeftOut {
    fn and(self, other: Self) -> Self {
        Self { invalid: self.invalid.saturating_add(other.invalid), all: self.all.saturating_add(other.all) }
    }
}

/// Counts from tables that were read, by process and table.
#[derive(Debug, Default)]
pub struct Counted(Mutex<BTreeMap<(i64, &'static str), LeftOut>>);

impl Counted {
    /// Counts rows that are already in memory, which costs almost nothing.
    pub fn see(&self, member: &TraceProcess, table: &'static Table, frame: &LazyFrame) {
        let DslPlan::DataFrameScan { df, .. } = &frame.logical_plan else { return };
        let Ok(valid) = df.column(VALID).and_then(|column| column.bool()) else { return };
        let all = df.height() as u64;
        let invalid = all.saturating_sub(u64::from(valid.sum().unwrap_or(0)));
        let mut counted = self.0.lock();
        counted.insert((member.process.process, table.name), LeftOut { invalid, all });
    }

    fn get(&self, member: &TraceProcess, table: &'static Table) -> Option<LeftOut> {
        self.0.lock().get(&(member.process.process, table.name)).copied()
    }
}

impl Trace {
    /// The source tables from which results for `request` exclude rows with invalid times, over all chosen rows.
    pub fn left_out(&self, request: &Request) -> Result<Vec<(&'static Table, LeftOut)>> {
        let mut request = request.clone();
        // Anomalies are derived from all rows.
        request.remove(ANOMALIES);
        let tables = source_request(&request);
        let tables = tables.iter().filter(|(_, columns)| columns.contains(VALID));
        let mut found = Vec::new();
        for table in tables.filter_map(|(name, _)| schema::table(name)) {
            let known: Option<Vec<LeftOut>> =
                self.members().iter().map(|member| self.counted().get(member, table)).collect();
            let left_out = match known.filter(|_| !self.choice().chooses_rows()) {
                Some(known) => known.into_iter().fold(LeftOut::default(), LeftOut::and),
                None => self.count_left_out(table)?,
            };
            if left_out.invalid > 0 {
                found.push((table, left_out));
            }
        }
        Ok(found)
    }

    fn count_left_out(&self, table: &'static Table) -> Result<LeftOut> {
        let request = Request::from([(table.name, BTreeSet::from([VALID]))]);
        let rows = self.frames(&request)?.remove(table.name).unwrap_or_default();
        let rows = collected(&rows.select([col(VALID)]))?;
        let all = rows.height() as u64;
        let valid = rows.column(VALID)?.bool()?.sum().unwrap_or(0);
        Ok(LeftOut { invalid: all.saturating_sub(u64::from(valid)), all })
    }
}
