//! Consumers of tables while a trace is read.

use anyhow::Result;

use super::lazy_trace::TraceProcess;
use crate::columns::requests::{ProcessTables, Request};

/// Function that consumes the tables of a process.
type Make<'a> = dyn Fn(&TraceProcess, &ProcessTables) -> Result<()> + Send + Sync + 'a;

/// A consumer of tables of each process. It runs as soon as these are ready; afterwards the tables are not kept for it.
pub struct TableConsumer<'a> {
    /// The tables and columns that it needs.
    pub request: Request,
    make: Box<Make<'a>>,
}

impl<'a> TableConsumer<'a> {
    /// A consumer of some tables; `make` gets at least the requested columns.
    pub fn new(
        request: Request,
        make: impl Fn(&TraceProcess, &ProcessTables) -> Result<()> + Send + Sync + 'a,
    ) -> Self {
        Self { request, make: Box::new(make) }
    }

    /// Consumes the tables of a process.
    ///
    /// # Errors
    /// When the consumer fails.
    pub fn take(&self, member: &TraceProcess, tables: &ProcessTables) -> Result<()> {
        (self.make)(member, tables)
    }
}

/// A request extended by the needs of consumers.
pub(crate) fn with_consumers(request: &Request, looks: &[&TableConsumer<'_>]) -> Request {
    let mut wider = request.clone();
    for (name, columns) in looks.iter().flat_map(|look| &look.request) {
        wider.entry(name).or_default().extend(columns);
    }
    wider
}
