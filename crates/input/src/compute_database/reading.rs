//! A canonical table being read for one workload.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use anyhow::Result;
use polars::prelude::*;

use super::catalog::{Catalog, Kernel, Workload};
use super::container::Container;
use super::owner::{OwnedBy, Owner};
use crate::common::sqlite::{
    self, Columns, Condition, DatabaseFile, Selection, Store, Wanted, damage, integer, type_mismatches,
};
use crate::common::{IdIndex, SymbolNames, TableBuilder, placeholder};
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_tables::trace::source::Rows;

/// A file, and the parts of it that stay in memory.
pub struct Capture {
    /// The database, which must stay as long as it is read.
    pub file: Arc<DatabaseFile>,
    /// The reader of the database.
    pub store: Store,
    pub container: Container,
    pub catalog: Catalog,
}

impl Capture {
    /// The damage to all tables: to their pages and, if `closely`, to their rows.
    pub(crate) fn damage_of_tables(&self, closely: bool, shown: &str) -> Vec<Damage> {
        let tables = self.container.tables().map(|table| &table.shape);
        sqlite::damage_of_tables(&self.store, tables, closely, shown)
    }
}

/// The builder of a canonical table, and the source of its rows.
pub struct Reading<'a> {
    pub capture: &'a Capture,
    /// The owner of the rows to take.
    pub owner: &'a Owner,
    pub workload: &'a Workload,
    builder: TableBuilder<'a>,
}

impl<'a> Deref for Reading<'a> {
    type Target = TableBuilder<'a>;

    fn deref(&self) -> &Self::Target {
        &self.builder
    }
}

impl DerefMut for Reading<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.builder
    }
}

/// Kernels of a workload with their names.
pub struct Symbols {
    /// Their ids in order.
    pub ids: Vec<i64>,
    pub names: SymbolNames,
    /// Positions of the ids.
    pub index: IdIndex,
    /// Kernels without a name.
    pub unnamed: usize,
}

impl<'a> Reading<'a> {
    pub fn new(capture: &'a Capture, owner: &'a Owner, workload: &'a Workload, builder: TableBuilder<'a>) -> Self {
        Self { capture, owner, workload, builder }
    }

    /// The key and the `wanted` columns of the rows of this workload. A missing table has no rows.
    pub(crate) fn read_own(&mut self, base: &str, owned_by: OwnedBy, wanted: &[Wanted]) -> Result<Columns> {
        let column = owned_by.column();
        let wanted: Vec<Wanted> = wanted.iter().copied().chain([integer(column)]).collect();
        let has_column = self.capture.container.table(base).is_some_and(|table| table.shape.has(column));
        let condition = if has_column { self.owner.condition(owned_by) } else { Condition::all() };
        let columns = self.read(base, &wanted, &condition)?;
        let owners = columns.integers(column);
        let owned: BooleanChunked = owners.iter().map(|id| Some(self.owner.owns(owned_by, id))).collect_ca("".into());
        Ok(if owned.all() { columns } else { columns.filter(&owned)? })
    }

    /// The key and the `wanted` columns of a table that all workloads share. A missing table has no rows.
    pub(crate) fn read_shared(&mut self, base: &str, wanted: &[Wanted]) -> Result<Columns> {
        self.read(base, wanted, &Condition::all())
    }

    fn read(&mut self, base: &str, wanted: &[Wanted], condition: &Condition) -> Result<Columns> {
        let Some(table) = self.capture.container.table(base) else { return Ok(Columns::default()) };
        let selection = Selection { table: &table.shape, key: table.key, condition };
        let columns = sqlite::read(&self.capture.store, selection, wanted, self.context.threads)?;
        // Once for the file.
        if self.owner.is_main {
            let table_name = self.table_name();
            self.note_all(type_mismatches(table_name, &table.shape.name, &columns));
        }
        if let Some(cause) = &columns.damage {
            let damage = damage(self.context, &table.shape.name, cause);
            self.report_damage([damage]);
        }
        Ok(columns)
    }

    /// The kernels of the workload.
    pub fn symbols(&self) -> Symbols {
        let own = || self.capture.catalog.kernels.iter().filter(|kernel| self.owner.has_kernel(kernel.id));
        let name = |kernel: &Kernel| kernel.name.clone().filter(|name| !name.is_empty());
        let ids: Vec<i64> = own().map(|kernel| kernel.id).collect();
        Symbols {
            index: IdIndex::new(&ids),
            ids,
            names: own().map(|kernel| name(kernel).unwrap_or_else(|| placeholder(kernel.id))).collect(),
            unnamed: own().filter(|kernel| name(kernel).is_none()).count(),
        }
    }

    /// Like [`TableBuilder::finish`].
    pub fn finish(self) -> Result<Rows> {
        self.builder.finish()
    }
}
