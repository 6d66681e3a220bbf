//! Consumers of tables while a trace is read.

use anyhow::Result;

use super::lazy_trace::TraceProcess;
use crate::columns::requests::{ProcessTables, Request};

/// Makes something of the tables of a process.
type Make<'a> = dyn Fn(&TraceProcess, &ProcessTables) -> Result<()> + Send + Sync + 'a;

/// Something that is made of tables of each process as soon as these are there; afterwards they are not kept for it.
pub struct TableConsumer<'a> {
    /// The tables and columns that it is made of.
    pub request: Request,
    make: Box<Make<'a>>,
}

impl<'a> TableConsumer<'a> {
    /// A look at some tables, of which `make` gets at least the columns that are named.
    pub fn new(
        request: Request,
        make: impl Fn(&TraceProcess, &ProcessTables) -> Result<()> + Send + Sync + 'a,
    ) -> Self {
        Self { request, make: Box::new(make) }
    }

    /// Makes of the tables of a process what there is to make.
    ///
    /// # Errors
    /// When it cannot be made of them.
    pub fn take(&self, member: &TraceProcess, tables: &ProcessTables) -> Result<()> {
        (self.make)(member, tables)
    }
}

/// A request with what looks need besides.
pub(crate) fn with_consumers(request: &Request, looks: &[&TableConsumer<'_>]) -> Request {
    let mut wider = request.clone();
    for (name, columns) in looks.iter().flat_map(|look| &look.request) {
        wider.entry(name).or_default().extend(columns);
    }
    wider
}
