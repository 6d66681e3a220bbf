//! A canonical table being read from a process of a capture.

use anyhow::Result;
use polars::prelude::*;

use super::capture::{Capture, RowAnomalies};
use crate::common::TableBuilder;
use wavesieve_model::schema::{Column as Declaration, Table};
use wavesieve_tables::trace::source::{ReadContext, Rows};

/// The builder of a canonical table, where its rows come from, and what was odd about them.
pub struct Reading<'a> {
    /// The process.
    pub capture: &'a Capture,
    /// Canonical columns.
    pub builder: TableBuilder<'a>,
    /// Anomalies of the rows.
    pub findings: RowAnomalies,
}

impl<'a> Reading<'a> {
    /// A reading of the `wanted` columns of `table`.
    pub fn new(
        capture: &'a Capture,
        context: &'a ReadContext<'a>,
        table: &'static Table,
        wanted: &'a [&'static Declaration],
    ) -> Self {
        Self { capture, builder: TableBuilder::new(context, table, wanted), findings: RowAnomalies::default() }
    }

    /// Adds a column of integers if it is wanted.
    pub fn put(&mut self, name: &'static str, values: Int64Chunked) {
        self.builder.put(name, values.into_series());
    }

    /// Agent ids for a column of labels.
    pub fn agents(&self, labels: &Int64Chunked) -> Int64Chunked {
        let known = &self.capture.agents;
        labels.iter().map(|label| label.and_then(|label| known.get(&label).copied())).collect_ca("".into())
    }

    /// Adds `agent_id`, `gpu` and `device` for a column of labels.
    pub(crate) fn put_agent(&mut self, labels: &Int64Chunked, ids: &Int64Chunked) {
        if self.builder.wants(&["agent_id", "gpu", "device"]) {
            let agents = self.agents(labels);
            self.builder.put_gpu(&agents, ids);
            self.put("agent_id", agents);
        }
    }

    /// The rows with everything that was odd about them.
    ///
    /// # Errors
    /// When columns have different heights, which is a defect.
    pub fn finish(mut self) -> Result<Rows> {
        self.builder.note_all(self.findings.anomalies);
        self.builder.report_damage(self.findings.damage);
        self.builder.finish()
    }
}

/// The numbers from 1.
pub fn ordinals(height: usize) -> Int64Chunked {
    Int64Chunked::from_iter_values("".into(), (1..).take(height))
}

/// The column with 0, which stands for none, replaced by null.
pub(crate) fn zero_as_null(values: &Int64Chunked) -> Int64Chunked {
    values.iter().map(|value| value.filter(|value| *value != 0)).collect_ca(values.name().clone())
}
