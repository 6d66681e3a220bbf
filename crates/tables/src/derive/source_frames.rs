//! Source frames that the derived tables of a process are built from.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use parking_lot::Mutex;
use polars::prelude::*;

use crate::columns::requests::Request;
use crate::derive::launching::kernel_order::KernelOrder;
use crate::derive::launching::launched_work::LaunchedWork;
use crate::derive::repeating::UnitChoice;
use wavesieve_model::analysis::numbering::by_id::ById;

/// Source tables of one process by name, with all rows and the needed columns.
#[derive(Default)]
pub struct Frames {
    tables: BTreeMap<&'static str, DataFrame>,
    wanted: Option<Arc<Request>>,
    unit: UnitChoice,
    found: Arc<Found>,
    /// Shared only by the tables that are built together, because it is large.
    launched_work: Mutex<Option<Arc<LaunchedWork>>>,
}

/// Facts about the rows of source tables that several derived tables of a process need.
#[derive(Default)]
pub(crate) struct Found {
    launching: Mutex<Option<Arc<ById<u32>>>>,
    no_calls: Mutex<Option<BooleanChunked>>,
    kernel_order: Mutex<Option<KernelOrder>>,
}

impl Frames {
    /// The same tables, for these columns of derived tables only.
    #[must_use]
    pub(crate) fn wanting(self, wanted: &Arc<Request>) -> Self {
        Self { wanted: Some(Arc::clone(wanted)), ..self }
    }

    /// The same tables, with what is found in the rows of others of the process. The rows of all must be the same.
    #[must_use]
    pub(crate) fn sharing(self, found: &Arc<Found>) -> Self {
        Self { found: Arc::clone(found), ..self }
    }

    /// The same tables, with a choice of the unit of work.
    #[must_use]
    pub fn choosing(self, unit: &UnitChoice) -> Self {
        Self { unit: unit.clone(), ..self }
    }

    /// The chosen unit of work.
    pub(crate) fn unit(&self) -> &UnitChoice {
        &self.unit
    }

    /// The same tables and others.
    pub(crate) fn with(&self, others: impl IntoIterator<Item = (&'static str, DataFrame)>) -> Self {
        let own = self.tables.iter().map(|(name, frame)| (*name, frame.clone()));
        let tables = own.chain(others).collect();
        let (wanted, unit, found) = (self.wanted.clone(), self.unit.clone(), Arc::clone(&self.found));
        Self { tables, wanted, unit, found, launched_work: Mutex::default() }
    }

    /// The same tables but one.
    pub(crate) fn without(&self, name: &str) -> Self {
        let mut tables = self.with([]);
        tables.tables.remove(name);
        tables
    }

    /// Whether a column of a derived table is wanted.
    pub fn wants(&self, table: &str, column: &str) -> bool {
        let columns = |wanted: &Arc<Request>| wanted.get(table).is_some_and(|columns| columns.contains(column));
        self.wanted.as_ref().is_none_or(columns)
    }

    /// A table, if it was requested.
    pub fn get(&self, name: &str) -> Option<&DataFrame> {
        self.tables.get(name)
    }

    /// The numbers of launching calls by their ids, from `find` if they are not known yet. Other callers wait meanwhile. `find` must not
    /// work in parallel: the thread could start another caller while it waits.
    ///
    /// # Errors
    /// When they cannot be found.
    pub fn launching(&self, find: impl FnOnce() -> Result<ById<u32>>) -> Result<Arc<ById<u32>>> {
        once(&self.found.launching, || find().map(Arc::new))
    }

    /// The kernels and copies of these tables with the calls that launched them.
    ///
    /// # Errors
    /// As for [`LaunchedWork::from_frames`].
    pub(crate) fn launched_work(&self) -> Result<Arc<LaunchedWork>> {
        once(&self.launched_work, || LaunchedWork::from_frames(self).map(Arc::new))
    }

    /// The order of the kernels, which also needs the ids of their dispatches.
    ///
    /// # Errors
    /// When a column is missing or has another type, or kernels were not read, which is a defect.
    pub(crate) fn kernel_order(&self) -> Result<KernelOrder> {
        let kernels = needed(self, "kernels")?;
        kernels.column("dispatch_id")?;
        once(&self.found.kernel_order, || KernelOrder::new(kernels))
    }

    /// Marks rows of `regions` that are not calls, from `find` if they are not known; see [`Self::launching`].
    ///
    /// # Errors
    /// When they cannot be found.
    pub fn no_calls(&self, find: impl FnOnce() -> Result<BooleanChunked>) -> Result<BooleanChunked> {
        once(&self.found.no_calls, find)
    }
}

/// The known value, otherwise the value found now; other threads wait until it is known.
fn once<T: Clone>(known: &Mutex<Option<T>>, find: impl FnOnce() -> Result<T>) -> Result<T> {
    let mut known = known.lock();
    let found = match known.take() {
        Some(found) => found,
        None => find()?,
    };
    Ok(known.insert(found).clone())
}

impl FromIterator<(&'static str, DataFrame)> for Frames {
    fn from_iter<I: IntoIterator<Item = (&'static str, DataFrame)>>(tables: I) -> Self {
        Self { tables: tables.into_iter().collect(), ..Self::default() }
    }
}

/// A table that was requested.
///
/// # Errors
/// When it was not read, which is a defect.
pub fn needed<'a>(tables: &'a Frames, name: &str) -> Result<&'a DataFrame> {
    tables.get(name).with_context(|| format!("internal: {name} was not read"))
}
