//! Rows of the steady part that statements read as they are.

use std::collections::BTreeMap;

use anyhow::Result;
use parking_lot::Mutex;
use polars::prelude::LazyFrame;

use wavesieve_tables::columns::requests::{ProcessTables, Request};
use wavesieve_tables::trace::consumer::TableConsumer;
use wavesieve_tables::trace::{Trace, TraceProcess};

#[derive(Default)]
pub(crate) struct SteadyRows(Mutex<BTreeMap<i64, ProcessTables>>);

impl SteadyRows {
    /// Consumers that take the rows of each table as soon as it is read.
    pub fn consumers<'a>(&'a self, trace: &'a Trace, request: &Request) -> Vec<TableConsumer<'a>> {
        let of_table = |(name, columns): (&&'static str, _)| {
            let request = Request::from([(*name, Clone::clone(columns))]);
            TableConsumer::new(request.clone(), move |member, tables| self.see(trace, member, &request, tables))
        };
        request.iter().map(of_table).collect()
    }

    fn see(&self, trace: &Trace, member: &TraceProcess, request: &Request, tables: &ProcessTables) -> Result<()> {
        let rows = trace.tables_of(member, request, tables)?;
        let mut kept = self.0.lock();
        kept.entry(member.process.process).or_default().extend(rows);
        Ok(())
    }

    /// The tables over all processes.
    pub fn finish(self, trace: &Trace, request: &Request) -> Result<BTreeMap<&'static str, LazyFrame>> {
        let kept = self.0.into_inner();
        trace.united(request, kept.into_values().collect())
    }
}
