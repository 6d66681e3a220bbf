//! Records what a source reports while its tables are read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Result;
use parking_lot::Mutex;

use wavesieve_model::schema::anomaly::{Anomaly, Damage};
use wavesieve_model::schema::{Column, Table};
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::trace::TraceProcess;
use wavesieve_tables::trace::source::{ProcessReader, ReadContext, RowCount, Rows, Stored};

/// A source that records the anomalies of another one, and whether anything was damaged.
pub(crate) struct RecordingSource {
    inner: Arc<dyn ProcessReader>,
    report: Mutex<ReadReport>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ReadReport {
    /// Anomalies by table.
    pub anomalies: BTreeMap<&'static str, Vec<Anomaly>>,
    /// Whether a part could not be read.
    pub damaged: bool,
}

impl RecordingSource {
    /// Returns the member with a recording source, and that source.
    pub fn wrap(member: &TraceProcess) -> (TraceProcess, Arc<Self>) {
        let recording = Arc::new(Self { inner: Arc::clone(&member.source), report: Mutex::default() });
        let member = TraceProcess {
            process: member.process.clone(),
            source: Arc::clone(&recording) as Arc<dyn ProcessReader>,
            files: Arc::clone(&member.files),
            memory_bytes: member.memory_bytes,
        };
        (member, recording)
    }

    /// The report so far.
    pub fn report(&self) -> ReadReport {
        self.report.lock().clone()
    }
}

impl ProcessReader for RecordingSource {
    fn read(&self, context: &ReadContext<'_>, table: &'static Table, columns: &[&'static Column]) -> Result<Rows> {
        let read = self.inner.read(context, table, columns);
        let mut report = self.report.lock();
        match &read {
            Ok(rows) => {
                report.damaged |= !rows.damage.is_empty();
                if !rows.anomalies.is_empty() {
                    report.anomalies.insert(table.name, rows.anomalies.clone());
                }
            }
            Err(_) => report.damaged = true,
        }
        drop(report);
        read
    }

    fn read_derived(
        &self,
        context: &ReadContext<'_>,
        table: &'static Table,
        wanted: &BTreeSet<&'static str>,
    ) -> Result<Stored> {
        let stored = self.inner.read_derived(context, table, wanted)?;
        self.report.lock().damaged |= stored.damage.is_some();
        Ok(stored)
    }

    fn damage(&self) -> Vec<Damage> {
        self.inner.damage()
    }

    fn damage_of_structure(&self) -> Vec<Damage> {
        self.inner.damage_of_structure()
    }

    fn damage_of_content(&self) -> &[Damage] {
        let damage = self.inner.damage_of_content();
        self.report.lock().damaged |= !damage.is_empty();
        damage
    }

    fn has_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> bool {
        self.inner.has_rows(context, table)
    }

    fn count_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> Result<RowCount> {
        self.inner.count_rows(context, table)
    }

    fn memory_bytes(&self) -> Option<u64> {
        self.inner.memory_bytes()
    }

    fn memory_bytes_of(&self, request: &Request) -> Option<u64> {
        self.inner.memory_bytes_of(request)
    }

    fn release(&self) {
        self.inner.release();
    }
}
