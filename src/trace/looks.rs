//! What is made of tables while a trace is read.

use anyhow::Result;

use super::logical::Member;
use crate::columns::requests::{ProcessTables, Request};
use crate::derive::Shared;

/// Makes something of the tables of a process.
type Make<'a> = dyn Fn(&Member, &ProcessTables, &Shared) -> Result<()> + Send + Sync + 'a;

/// Something that is made of tables of each process as soon as these are there, and after which nobody keeps them for it.
pub struct Look<'a> {
    /// The tables and columns that it is made of.
    pub request: Request,
    make: Box<Make<'a>>,
}

impl<'a> Look<'a> {
    /// A look at some tables, of which `make` gets at least the columns that are named, and what is worked out of source tables
    /// that are read with all rows.
    pub fn new(
        request: Request,
        make: impl Fn(&Member, &ProcessTables, &Shared) -> Result<()> + Send + Sync + 'a,
    ) -> Self {
        Self { request, make: Box::new(make) }
    }

    /// Makes of the tables of a process what there is to make.
    ///
    /// # Errors
    /// When it cannot be made of them.
    pub fn take(&self, member: &Member, tables: &ProcessTables, shared: &Shared) -> Result<()> {
        (self.make)(member, tables, shared)
    }
}

/// A request with what looks need besides.
pub fn with_looks(request: &Request, looks: &[&Look<'_>]) -> Request {
    let mut wider = request.clone();
    for (name, columns) in looks.iter().flat_map(|look| &look.request) {
        wider.entry(name).or_default().extend(columns);
    }
    wider
}
