//! A canonical table being read from a partition of a rocpd database.

use std::ops::{Deref, DerefMut};

use anyhow::Result;
use polars::prelude::IntoSeries;

use super::database::Database;
use super::lookups::Lookups;
use super::symbols::SymbolCache;
use crate::input::common::TableBuilder;
use crate::input::common::sqlite::{Columns, damage, misfits};
use crate::trace::schema::{Column as Declaration, Table};
use crate::trace::source::{ReadContext, Rows};

/// The builder of a canonical table, and where its rows come from.
pub struct Assembly<'a> {
    /// The partition.
    pub database: &'a Database,
    /// Strings and threads of the partition.
    pub lookups: &'a Lookups,
    /// Kernel symbols of the partition.
    pub symbols: &'a SymbolCache,
    builder: TableBuilder<'a>,
}

impl<'a> Deref for Assembly<'a> {
    type Target = TableBuilder<'a>;

    fn deref(&self) -> &Self::Target {
        &self.builder
    }
}

impl DerefMut for Assembly<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.builder
    }
}

impl<'a> Assembly<'a> {
    /// An assembly of the `wanted` columns of `table`.
    pub fn new(
        context: &'a ReadContext<'a>,
        database: &'a Database,
        lookups: &'a Lookups,
        symbols: &'a SymbolCache,
        table: &'static Table,
        wanted: &'a [&'static Declaration],
    ) -> Self {
        Self { database, lookups, symbols, builder: TableBuilder::new(context, table, wanted) }
    }

    /// Notes the misfits and damage of columns just read from a source table.
    pub fn absorb(&mut self, base: &str, columns: &Columns) {
        let table_name = self.table_name();
        self.note_all(misfits(table_name, &format!("rocpd_{base}"), columns));
        if let Some(cause) = &columns.damage {
            let damage = damage(self.context, &format!("rocpd_{base}"), cause);
            self.report_damage([damage]);
        }
    }

    /// Adds `tid`, `stream_id` and `queue_id` as far as the source has them.
    ///
    /// # Errors
    /// When the thread table cannot be read.
    pub fn put_place(&mut self, columns: &Columns) -> Result<()> {
        if self.wants(&["tid"]) {
            let tids = self.lookups.thread_ids(self.database, &columns.integers("tid"))?;
            self.put("tid", tids.into_series());
        }
        for name in ["stream_id", "queue_id"] {
            if self.wants(&[name]) {
                self.put(name, columns.integers(name).into_series());
            }
        }
        Ok(())
    }

    /// As [`TableBuilder::finish`].
    ///
    /// # Errors
    /// When columns have different heights, which is a defect.
    pub fn finish(mut self) -> Result<Rows> {
        let of_texts = self.lookups.anomalies();
        self.note_all(of_texts);
        self.builder.finish()
    }
}
