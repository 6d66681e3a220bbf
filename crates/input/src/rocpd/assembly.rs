//! A canonical table being read from a partition of a rocpd database.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use anyhow::Result;
use parking_lot::Mutex;
use polars::prelude::IntoSeries;

use super::database::Database;
use super::lookups::Lookups;
use super::symbols::{SYMBOLS, SymbolCache};
use super::tracks::TRACKS;
use crate::common::TableBuilder;
use crate::common::sqlite::{Columns, Condition, Wanted, damage, type_mismatches};
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_model::schema::{Column as Declaration, Table};
use wavesieve_tables::trace::source::{ReadContext, Rows};

/// The builder of a canonical table, and where its rows come from.
pub(crate) struct Assembly<'a> {
    /// The partition.
    pub database: &'a Database,
    /// Strings and threads of the partition.
    pub lookups: &'a Lookups,
    /// Kernel symbols of the partition.
    pub symbols: &'a SymbolCache,
    builder: TableBuilder<'a>,
    /// Damage to tables that rows were looked up in, by base name.
    looked_up: Mutex<BTreeMap<&'static str, String>>,
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
        Self {
            database,
            lookups,
            symbols,
            builder: TableBuilder::new(context, table, wanted),
            looked_up: Mutex::default(),
        }
    }

    /// Notes the misfits and damage of columns just read from a source table.
    pub fn absorb(&mut self, base: &str, columns: &Columns) {
        let table_name = self.table_name();
        self.note_all(type_mismatches(table_name, &format!("rocpd_{base}"), columns));
        if let Some(cause) = &columns.damage {
            let damage = damage(self.context, &format!("rocpd_{base}"), cause);
            self.report_damage([damage]);
        }
    }

    /// Columns of a source table in which rows of the canonical one are looked up: what is damaged of it is reported with these, what
    /// else is odd where the table is read for itself.
    pub fn look_up(&self, base: &'static str, wanted: &[Wanted], condition: Condition) -> Result<Columns> {
        self.look_up_in(self.database, base, wanted, condition)
    }

    /// As [`Assembly::look_up`], among the rows of all processes of the partition.
    pub(crate) fn look_up_of_all(&self, base: &'static str, wanted: &[Wanted]) -> Result<Columns> {
        self.look_up_in(&self.database.of_all_processes(), base, wanted, Condition::all())
    }

    fn look_up_in(
        &self,
        database: &Database,
        base: &'static str,
        wanted: &[Wanted],
        condition: Condition,
    ) -> Result<Columns> {
        let columns = database.read_where(base, wanted, condition, self.context.threads)?;
        if let Some(cause) = &columns.damage {
            self.looked_up.lock().insert(base, cause.clone());
        }
        Ok(columns)
    }

    /// Adds `tid`, `stream_id` and `queue_id`, each only if the source has it.
    ///
    /// # Errors
    /// When the thread table cannot be read.
    pub(crate) fn put_place(&mut self, columns: &Columns) -> Result<()> {
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

    /// As [`TableBuilder::finish`], with what is damaged of the tables that names and places were looked up in.
    ///
    /// # Errors
    /// When columns have different heights, which is a defect.
    pub fn finish(mut self) -> Result<Rows> {
        let of_texts = self.lookups.anomalies();
        self.note_all(of_texts);
        let looked_up = std::mem::take(&mut self.looked_up).into_inner();
        let of_tracks = self.database.damage_of_tracks().map(|cause| (TRACKS, cause));
        let of_symbols = self.symbols.damage().map(|cause| (SYMBOLS, cause));
        let kept = self.lookups.damage().chain(of_tracks).chain(of_symbols);
        let all = looked_up.iter().map(|(base, cause)| (*base, cause.as_str())).chain(kept);
        let all = all.map(|(base, cause)| damage(self.builder.context, &format!("rocpd_{base}"), cause));
        let all: Vec<Damage> = all.collect();
        self.builder.report_damage(all);
        self.builder.finish()
    }
}
