//! A canonical table being read for one process of an RPD database.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use anyhow::Result;

use super::census::Census;
use super::container::Container;
use crate::common::sqlite::{
    self, Columns, Condition, DatabaseFile, RowTest, Selection, Store, Wanted, damage, text, type_mismatches,
};
use crate::common::{TableBuilder, Texts};
use wavesieve_model::schema::anomaly::{Anomaly, Damage};
use wavesieve_model::schema::{Column as Declaration, Table};
use wavesieve_tables::trace::source::{ReadContext, RowCount, Rows};

/// A file, facts about it, and the texts that stay in memory once they were read.
pub struct Capture {
    /// The database, which must stay as long as it is read.
    _file: Arc<DatabaseFile>,
    pub store: Store,
    pub container: Container,
    pub census: Census,
    strings: OnceLock<Strings>,
}

/// The string table, with its anomalies and damage.
struct Strings {
    texts: Texts,
    anomalies: Vec<Anomaly>,
    damage: Option<String>,
}

impl Capture {
    pub fn new(file: Arc<DatabaseFile>, store: Store, container: Container, census: Census) -> Self {
        Self { _file: file, store, container, census, strings: OnceLock::new() }
    }

    /// The damage to all tables: to their pages and, if `closely`, to their rows.
    pub(crate) fn damage_of_tables(&self, closely: bool, shown: &str) -> Vec<Damage> {
        sqlite::damage_of_tables(&self.store, self.container.tables(), closely, shown)
    }
}

/// A process of a file, and the rows that belong to it.
#[derive(Clone, Debug)]
pub struct Owner {
    pub pid: i64,
    pub others: Vec<i64>,
    /// Whether it takes the rows without an owner.
    pub is_main: bool,
}

impl Owner {
    /// Condition on the calls.
    pub fn condition(&self) -> Condition {
        if self.others.is_empty() {
            Condition::all()
        } else if self.is_main {
            Condition::all().and(RowTest::NoneOf("pid", self.others.clone()))
        } else {
            Condition::all().and(RowTest::OneOf("pid", vec![self.pid]))
        }
    }

    /// Whether a row with this process id belongs to it.
    pub fn owns(&self, pid: Option<i64>) -> bool {
        match pid {
            Some(pid) if pid == self.pid || self.others.contains(&pid) => pid == self.pid,
            _ => self.is_main,
        }
    }
}

/// The builder of a canonical table, and the source of its rows.
pub struct Reading<'a> {
    pub capture: &'a Capture,
    pub owner: &'a Owner,
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

impl<'a> Reading<'a> {
    pub fn new(
        capture: &'a Capture,
        owner: &'a Owner,
        context: &'a ReadContext<'a>,
        table: &'static Table,
        wanted: &'a [&'static Declaration],
    ) -> Self {
        Self { capture, owner, builder: TableBuilder::new(context, table, wanted) }
    }

    /// Reads the row id and the `wanted` columns of the calls of this process.
    pub(crate) fn read_own(&mut self, wanted: &[Wanted], condition: Condition) -> Result<Columns> {
        let condition = self.owner.condition().and_all(condition);
        self.read_noting("api", wanted, &condition, true)
    }

    /// Reads the row id and the `wanted` columns of a source table that all processes of the file share. A missing table has no rows. Type
    /// mismatches are noted once for the file.
    pub fn read(&mut self, base: &str, wanted: &[Wanted], condition: &Condition) -> Result<Columns> {
        self.read_noting(base, wanted, condition, self.owner.is_main)
    }

    fn read_noting(&mut self, base: &str, wanted: &[Wanted], condition: &Condition, note: bool) -> Result<Columns> {
        let Some(table) = self.capture.container.table(base) else { return Ok(Columns::default()) };
        // Tables of arguments have no id of their own.
        let key = if table.has("id") { "id" } else { "rowid" };
        let selection = Selection { table, key, condition };
        let columns = sqlite::read(&self.capture.store, selection, wanted, self.context.threads)?;
        if note {
            let table_name = self.table_name();
            self.note_all(type_mismatches(table_name, &table.name, &columns));
        }
        if let Some(cause) = &columns.damage {
            let damage = damage(self.context, &table.name, cause);
            self.report_damage([damage]);
        }
        Ok(columns)
    }

    pub fn count(&self, base: &str, condition: &Condition) -> Result<RowCount> {
        let Some(table) = self.capture.container.table(base) else { return Ok(RowCount::default()) };
        let selection = Selection { table, key: if table.has("id") { "id" } else { "rowid" }, condition };
        let (rows, cause) = sqlite::count(&self.capture.store, selection, self.context.threads)?;
        let damage = cause.map(|cause| damage(self.context, &table.name, &cause));
        Ok(RowCount { rows, damage: damage.into_iter().collect() })
    }

    /// Condition for the rows of a table with times that a query may need.
    pub(crate) fn hinted(&self) -> Condition {
        self.context.hint.map(|hint| Condition::all().and_times(hint)).unwrap_or_default()
    }

    /// All names, and in schema 2 the arguments too.
    pub fn strings(&mut self) -> Result<&'a Texts> {
        let capture = self.capture;
        if let Some(strings) = capture.strings.get() {
            return Ok(&strings.texts);
        }
        let columns = self.read_noting("string", &[text("string")], &Condition::all(), false)?;
        let table = self.string_table();
        let strings = Strings {
            texts: Texts::new(&columns.integers("id"), &columns.texts("string")),
            anomalies: type_mismatches(table, table, &columns).collect(),
            damage: columns.damage,
        };
        Ok(&capture.strings.get_or_init(|| strings).texts)
    }

    fn string_table(&self) -> &'a str {
        self.capture.container.table("string").map_or("string", |table| &table.name)
    }

    pub(crate) fn strings_where(&mut self, test: impl Fn(&str) -> bool) -> Result<Vec<i64>> {
        Ok(self.strings()?.ids_where(test))
    }

    /// Like [`TableBuilder::finish`], but also reports anomalies and damage of the strings.
    pub fn finish(mut self) -> Result<Rows> {
        if let Some(strings) = self.capture.strings.get() {
            if self.owner.is_main {
                self.builder.note_all(strings.anomalies.iter().cloned());
            }
            // Every table reports this damage, because names may be missing in all of them.
            let of_strings = strings.damage.as_ref().map(|cause| damage(self.context, self.string_table(), cause));
            self.builder.report_damage(of_strings);
        }
        self.builder.finish()
    }
}
