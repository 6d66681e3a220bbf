//! A canonical table that is being read from a process of a capture.

use anyhow::Result;
use polars::prelude::*;

use super::capture::{Capture, RowAnomalies};
use super::columns::Col;
use super::fields::{Fields, Plan};
use crate::common::TableBuilder;
use wavesieve_tables::trace::source::Rows;

/// The builder of a canonical table, the source of its rows, and their anomalies.
pub struct Reading<'a> {
    pub capture: &'a Capture,
    pub builder: TableBuilder<'a>,
    pub findings: RowAnomalies,
}

impl<'a> Reading<'a> {
    pub fn new(capture: &'a Capture, builder: TableBuilder<'a>) -> Self {
        Self { capture, builder, findings: RowAnomalies::default() }
    }

    /// Reads rows, and adds the canonical columns that are copied unchanged, and times.
    pub(crate) fn rows(&mut self, plan: &Plan) -> Result<Fields> {
        let rows = Fields::read(self, plan)?;
        self.put_rows(plan, &rows)?;
        Ok(rows)
    }

    /// Adds the canonical columns of rows that are copied unchanged, and times.
    pub(crate) fn put_rows(&mut self, plan: &Plan, rows: &Fields) -> Result<()> {
        self.builder.set_height(rows.height);
        self.builder.put_rows(plan.layout, rows)?;
        self.builder.put_times(&rows.get(Col::Start), &rows.get(Col::End));
        Ok(())
    }

    /// Adds a column of integers if it is requested.
    pub fn put(&mut self, name: &'static str, values: Int64Chunked) {
        self.builder.put(name, values);
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

    /// The rows with their anomalies and damage.
    pub fn finish(mut self) -> Result<Rows> {
        self.builder.note_all(self.findings.anomalies);
        self.builder.report_damage(self.findings.damage);
        self.builder.finish()
    }
}
