//! Rows of source tables of one process: read, in pieces, or only counted.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::IntoLazy;

use super::info_tables;
use super::lazy_trace::{Trace, TraceProcess};
use super::selection;
use super::source::{ReadContext, Rows};
use crate::columns::frames::{collected, empty_frame, own_columns};
use crate::columns::reading::{Piece, ScanHint};
use crate::columns::requests::{Request, all_columns, wanted};
use crate::derive;
use wavesieve_model::schema;
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_model::schema::{Column as Declaration, Table};
use wavesieve_model::text::causes::with_causes;

impl Trace {
    /// Columns of a source table of one process in pieces, if all its rows are chosen and it has pieces.
    pub fn pieces(
        &self,
        member: &TraceProcess,
        table: &'static Table,
        columns: &BTreeSet<&'static str>,
    ) -> Result<Option<Vec<Box<dyn Piece>>>> {
        let is_built = info_tables::is_from_facts(table.name) || derive::is_joint(table.name);
        if is_built || self.resolved.contains_key(&member.process.process) {
            return Ok(None);
        }
        let declared: Vec<&'static Declaration> =
            own_columns(table).into_iter().filter(|column| columns.contains(column.name)).collect();
        // A source that cannot be opened is reported when it is read.
        Ok(member.source.pieces(&self.context(member), table, &declared).unwrap_or_default())
    }

    /// All columns of a source table of one process, without `process` and `rank`.
    ///
    /// # Errors
    /// When the identity tables cannot be built.
    pub fn read_all(&self, member: &TraceProcess, table: &'static Table) -> Result<Rows> {
        self.read(member, table, &all_columns(table), None, true)
    }

    fn chooses_of(&self, table: &Table) -> bool {
        self.choice.row_filters().any(|filter| selection::is_touched(&self.choice, filter, table))
    }

    /// Whether a source table of a process has rows.
    pub fn has_rows(&self, member: &TraceProcess, table: &'static Table) -> Result<bool> {
        let is_known = !self.chooses_of(table) && member.source.has_rows(&self.context(member), table);
        Ok(is_known || self.count_rows(member, table)? > 0)
    }

    /// Number of rows of every source table of a process.
    ///
    /// # Errors
    /// Never for a damaged table: its readable rows count.
    pub fn count_rows(&self, member: &TraceProcess, table: &'static Table) -> Result<u64> {
        if self.chooses_of(table) {
            let key = table.column_names().nth(2).into_iter().collect();
            let mut tables = self.process_frames(member, &Request::from([(table.name, key)]))?;
            // Reads the rows instead of asking for their number: polars cannot count the rows of a join whose columns are not requested.
            let rows = collected(&tables.remove(table.name).unwrap_or_default())?;
            return Ok(rows.height() as u64);
        }
        match table.name {
            "processes" => Ok(1),
            "agents" => Ok(member.process.facts.agents.len() as u64),
            _ => match member.source.count_rows(&self.context(member), table) {
                Ok(count) => {
                    self.report_damage(count.damage);
                    Ok(count.rows)
                }
                Err(error) => {
                    self.report_damage([damage_of(member, table.name, &error)]);
                    Ok(0)
                }
            },
        }
    }

    /// Number of rows of a source table of a process as recorded, ignoring filters; 0 if they cannot be counted.
    pub fn recorded_rows(&self, member: &TraceProcess, table: &'static Table) -> u64 {
        member.source.count_rows(&self.context(member), table).map_or(0, |count| count.rows)
    }

    /// Number of recorded dispatches of all processes.
    pub fn recorded_dispatches(&self) -> u64 {
        let kernels = schema::table("kernels");
        let of = |member: &TraceProcess| kernels.map_or(0, |table| self.recorded_rows(member, table));
        self.members().iter().map(of).fold(0, u64::saturating_add)
    }

    pub(super) fn context<'a>(&'a self, member: &'a TraceProcess) -> ReadContext<'a> {
        ReadContext::whole(&member.process, self.categories(), self.threads)
    }

    pub(super) fn read(
        &self,
        member: &TraceProcess,
        table: &'static Table,
        columns: &BTreeSet<&'static str>,
        hint: Option<&ScanHint>,
        at_once: bool,
    ) -> Result<Rows> {
        self.read_in(&ReadContext { hint, at_once, ..self.context(member) }, member, table, columns)
    }

    pub(super) fn read_in(
        &self,
        context: &ReadContext<'_>,
        member: &TraceProcess,
        table: &'static Table,
        columns: &BTreeSet<&'static str>,
    ) -> Result<Rows> {
        if let Some(frame) = info_tables::from_facts(table.name, &member.process)? {
            return Ok(Rows::clean(frame.lazy()));
        }
        let declared: Vec<&'static Declaration> =
            own_columns(table).into_iter().filter(|column| wanted(column.name, columns)).collect();
        match member.source.read(context, table, &declared) {
            Ok(rows) => {
                self.report_damage(rows.damage.iter().cloned());
                if context.hint.is_none() && context.keep.is_none() && context.rows.is_none() {
                    self.counted().see(member, table, &rows.frame);
                }
                Ok(rows)
            }
            Err(error) => {
                let damage = damage_of(member, table.name, &error);
                self.report_damage([damage.clone()]);
                Ok(Rows { damage: vec![damage], ..Rows::clean(empty_frame(&declared).lazy()) })
            }
        }
    }
}

pub(super) fn damage_of(member: &TraceProcess, part: &str, error: &anyhow::Error) -> Damage {
    Damage { path: member.process.facts.path.clone(), part: part.to_owned(), cause: with_causes(error) }
}
