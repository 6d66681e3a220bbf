//! Tables of one process before filtering.

use anyhow::Result;
use polars::prelude::LazyFrame;

use super::lazy_trace::{Trace, TraceProcess};
use crate::columns::reading::ScanHint;
use crate::columns::requests::{ProcessTables, known_table};
use crate::derive::OnDemandTables;
use wavesieve_model::analysis::categories::Categories as CategoryRules;
use wavesieve_model::analysis::hardware::metrics::EffectiveDefinitions;

/// The tables of one process with all their rows, regardless of filters.
pub struct UnfilteredTables<'a> {
    pub(super) trace: &'a Trace,
    pub(super) member: &'a TraceProcess,
}

impl UnfilteredTables<'_> {
    /// Reads columns of tables.
    pub fn read(&self, request: &[(&'static str, &[&'static str])]) -> Result<ProcessTables> {
        let request = request.iter().map(|(table, columns)| (*table, columns.iter().copied().collect())).collect();
        self.trace.whole_frames(self.member, &request, &[], None)
    }
}

impl OnDemandTables for UnfilteredTables<'_> {
    fn rows(&self, table: &str, columns: &[&'static str], hint: Option<&ScanHint>) -> Result<LazyFrame> {
        let columns = columns.iter().copied().collect();
        Ok(self.trace.read(self.member, known_table(table)?, &columns, hint, hint.is_none())?.frame)
    }

    fn categories(&self) -> &CategoryRules {
        self.trace.categories()
    }

    fn metrics(&self) -> &EffectiveDefinitions {
        self.trace.metrics()
    }
}
