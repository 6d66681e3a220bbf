//! A canonical table being read from a partition of a rocpd database.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use anyhow::Result;
use parking_lot::Mutex;

use super::database::{Database, KEY};
use super::lookups::Lookups;
use super::tracks::TRACKS;
use crate::common::sqlite::{
    Columns, Condition, LISTED_KERNELS, RowTest, Wanted, damage, integer, text, type_mismatches,
};
use crate::common::{Rule, Source, TableBuilder};
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_tables::trace::source::Rows;

/// Source columns that all tables of activity share, and their canonical columns.
const OF_ACTIVITY: &[Source<&'static str>] = &[
    ("queue_id", &["queue_id"], Rule::Copied),
    ("stream_id", &["stream_id"], Rule::Copied),
    ("tid", &["tid"], Rule::Used),
    ("event_id", &["correlation_id", "parent_correlation_id", "external_id"], Rule::Used),
    ("start", &["start_ns", "end_ns", "duration_ns", "valid"], Rule::Used),
    ("end", &["start_ns", "end_ns", "duration_ns", "valid"], Rule::Used),
];

/// The builder of a canonical table, and the source of its rows.
pub(crate) struct Assembly<'a> {
    pub database: &'a Database,
    /// Strings, threads and kernel symbols of the partition.
    pub lookups: &'a Lookups,
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
    pub fn new(builder: TableBuilder<'a>, database: &'a Database, lookups: &'a Lookups) -> Self {
        Self { database, lookups, builder, looked_up: Mutex::default() }
    }

    /// Notes the type mismatches and damage of columns just read from a source table.
    pub fn absorb(&mut self, base: &str, columns: &Columns) {
        let table_name = self.table_name();
        self.note_all(type_mismatches(table_name, &format!("rocpd_{base}"), columns));
        if let Some(cause) = &columns.damage {
            let damage = damage(self.context, &format!("rocpd_{base}"), cause);
            self.report_damage([damage]);
        }
    }

    /// Reads columns of a source table, and notes their type mismatches and damage.
    pub(crate) fn read(&mut self, base: &str, wanted: &[Wanted], condition: Condition) -> Result<Columns> {
        let columns = self.database.read_where(base, wanted, condition, self.context.threads)?;
        self.absorb(base, &columns);
        Ok(columns)
    }

    /// Reads the rows of a descriptive source table, and adds their canonical columns.
    pub(crate) fn put_described(&mut self, base: &str, layout: &[Source<&'static str>]) -> Result<()> {
        self.rows(base, layout, Condition::all()).map(drop)
    }

    /// Reads rows of activity that meet `own`, and adds places and the canonical columns that are copied unchanged.
    pub(crate) fn activity(&mut self, base: &str, layout: &[Source<&'static str>], own: Condition) -> Result<Columns> {
        let condition = self.sought(base, own);
        let columns = self.rows(base, &[layout, OF_ACTIVITY].concat(), condition)?;
        if self.wants(&["tid"]) {
            let tids = self.lookups.thread_ids(self.database, &columns.integers("tid"))?;
            self.put("tid", tids);
        }
        Ok(columns)
    }

    /// Reads the source columns of the wanted canonical columns, and adds the columns that are copied unchanged.
    fn rows(&mut self, base: &str, layout: &[Source<&'static str>], condition: Condition) -> Result<Columns> {
        let mut wanted: Vec<Wanted> = Vec::new();
        for &(source, canonical, rule) in layout {
            let column = if rule.is_of_text() { text(source) } else { integer(source) };
            if source != KEY && self.wants(canonical) && !wanted.contains(&column) {
                wanted.push(column);
            }
        }
        let columns = self.read(base, &wanted, condition)?;
        self.set_height(columns.height);
        self.builder.put_rows(layout, &columns)?;
        Ok(columns)
    }

    /// The condition on the rows to read: `own`, and in a table with a start and an end the rows that a query may need.
    fn sought(&self, base: &str, own: Condition) -> Condition {
        let own = match self.context.rows {
            Some(rows) => own.and_rows(KEY, rows),
            None => own,
        };
        // SQLite treats the name of a missing column as a text.
        let has = |name: &str| self.database.partition().table(base).is_some_and(|table| table.has(name));
        let Some(hint) = self.context.hint else { return own };
        let condition = if has("start") && has("end") { own.and_times(hint) } else { own };
        match hint.kernel_ids.as_ref().filter(|ids| has("kernel_id") && ids.len() <= LISTED_KERNELS) {
            Some(ids) => condition.and(RowTest::OneOfOrNull("kernel_id", ids.clone())),
            None => condition,
        }
    }

    /// Reads columns of a source table in which rows of the canonical table are looked up. Its damage is reported with these rows. Its
    /// other anomalies are reported when the table is read for itself.
    pub fn look_up(&self, base: &'static str, wanted: &[Wanted], condition: Condition) -> Result<Columns> {
        self.look_up_in(self.database, base, wanted, condition)
    }

    /// Like [`Assembly::look_up`], but among the rows of all processes of the partition.
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

    /// Like [`TableBuilder::finish`], but also reports damage to the tables in which names and places were looked up.
    pub fn finish(mut self) -> Result<Rows> {
        let of_texts = self.lookups.anomalies();
        self.note_all(of_texts);
        let looked_up = std::mem::take(&mut self.looked_up).into_inner();
        let of_tracks = self.database.damage_of_tracks().map(|cause| (TRACKS, cause));
        let kept = self.lookups.damage().chain(of_tracks).chain(self.lookups.damage_of_symbols());
        let all = looked_up.iter().map(|(base, cause)| (*base, cause.as_str())).chain(kept);
        let all = all.map(|(base, cause)| damage(self.builder.context, &format!("rocpd_{base}"), cause));
        let all: Vec<Damage> = all.collect();
        self.builder.report_damage(all);
        self.builder.finish()
    }
}
