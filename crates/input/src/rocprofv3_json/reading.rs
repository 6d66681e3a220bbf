//! A canonical table that is being read from a process of a file.

use anyhow::Result;
use polars::prelude::*;

use super::capture::{Capture, SectionAnomalies};
use super::integers::Integers;
use crate::common::TableBuilder;
pub(crate) use crate::common::{ordinals, zero_as_null};
use wavesieve_model::schema::{Column as Declaration, Table};
use wavesieve_tables::trace::source::{ReadContext, Rows};

/// The builder of a canonical table, the source of its rows, and their anomalies.
pub struct Reading<'a> {
    /// The process.
    pub capture: &'a Capture,
    /// Canonical columns.
    pub builder: TableBuilder<'a>,
    /// Anomalies of the sections.
    pub findings: SectionAnomalies,
}

impl<'a> Reading<'a> {
    /// Starts reading the `wanted` columns of `table`.
    pub fn new(
        capture: &'a Capture,
        context: &'a ReadContext<'a>,
        table: &'static Table,
        wanted: &'a [&'static Declaration],
    ) -> Self {
        Self { capture, builder: TableBuilder::new(context, table, wanted), findings: SectionAnomalies::default() }
    }

    /// Adds a column of integers if it is requested.
    pub fn put(&mut self, name: &'static str, values: Int64Chunked) {
        self.builder.put(name, values);
    }

    /// Agent ids for a column of handles. Handle 0 means no agent; unknown handles are reported in a note.
    pub fn agents(&mut self, handles: &Int64Chunked, ids: &Int64Chunked) -> Int64Chunked {
        let known = &self.capture.agents;
        let is_unknown = |handle: i64| handle != 0 && !known.contains_key(&handle);
        self.builder.note_unknown_agents(handles.iter().map(|handle| handle.is_some_and(is_unknown)), ids);
        handles.iter().map(|handle| handle.and_then(|handle| known.get(&handle).copied())).collect_ca("".into())
    }

    /// Adds `agent_id`, `gpu` and `device` for a column of handles.
    pub(crate) fn put_agent(&mut self, handles: &Int64Chunked, ids: &Int64Chunked) {
        if self.builder.wants(&["agent_id", "gpu", "device"]) {
            let agents = self.agents(handles, ids);
            self.builder.put_gpu(&agents, ids);
            self.put("agent_id", agents);
        }
    }

    /// Adds start, end, duration and validity, if they are requested, and takes the times out of the rows.
    pub(crate) fn put_times(&mut self, rows: &mut Integers) {
        if !self.builder.wants(&["start_ns", "end_ns"]) {
            return self.builder.put_lengths(rows.times());
        }
        let (starts, ends) = (rows.take("start"), rows.take("end"));
        self.builder.put_times(&starts, &ends);
    }

    /// The rows with their anomalies and damage.
    ///
    /// # Errors
    /// When columns have different heights, which is a defect.
    pub fn finish(mut self) -> Result<Rows> {
        self.builder.note_all(self.findings.anomalies);
        self.builder.report_damage(self.findings.damage);
        self.builder.report_damage(self.capture.structural.iter().cloned());
        self.builder.finish()
    }
}
