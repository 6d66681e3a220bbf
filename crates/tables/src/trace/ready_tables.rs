//! Derived tables that are not built from tables of one process: stored tables, and tables over all processes.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use polars::prelude::{DataFrame, IntoLazy, LazyFrame};

use super::info_tables;
use super::lazy_trace::{Trace, TraceProcess};
use super::source::ReadContext;
use crate::columns::frames::collected;
use crate::columns::requests::{Request, known_table, only_requested};
use crate::derive;
use crate::derive::health;
use crate::derive::health::ANOMALIES;
use crate::derive::repeating::units::OF_UNITS;
use wavesieve_model::schema::Table;

impl Trace {
    /// The rows of a derived table that is not built from tables of the process: stored rows of the input if they are usable, and rows that
    /// depend on all processes. Has at least the `wanted` columns.
    ///
    /// # Errors
    /// When the stored table cannot be opened, or a table over all processes cannot be built.
    pub fn ready(
        &self,
        member: &TraceProcess,
        table: &'static Table,
        wanted: &BTreeSet<&'static str>,
    ) -> Result<Option<LazyFrame>> {
        if let Some(frame) = info_tables::from_facts(table.name, &member.process)? {
            return Ok(Some(frame.lazy()));
        }
        if derive::is_joint(table.name) {
            let build = |wanted: &BTreeSet<&'static str>| self.build_joint(table.name, wanted);
            let rows = self.joint.rows(table.name, wanted, member.process.process, build)?;
            let rows = rows.map(|rows| only_requested(rows, Some(wanted))).transpose()?;
            return Ok(rows.map(IntoLazy::lazy));
        }
        // Stored tables have the units with the strongest evidence.
        if !self.choice.unit.is_auto() && OF_UNITS.contains(&table.name) {
            return Ok(None);
        }
        let stored = member.source.read_derived(&self.context(member), table, wanted)?;
        self.report_damage(stored.damage);
        match stored.frame {
            // Stored anomalies were found when they were written.
            Some(frame) if table.name == ANOMALIES => {
                let damage = self.known_damage(member).into_iter().map(health::anomaly_of);
                let later = damage.chain(self.anomalies_of_inputs(member)).collect();
                Ok(Some(health::with_later(frame, later)?))
            }
            frame => Ok(frame),
        }
    }

    /// Announces that columns of tables over all processes will be requested after other tables: the needed parts of each process are
    /// extracted while those are read, if possible.
    pub fn request_joint(&self, request: &Request) {
        for (name, columns) in request.iter().filter(|(name, _)| derive::is_joint(name)) {
            self.joint.request_joint(name, columns);
        }
    }

    /// The rows of a table over all processes. Workers may request it: all except the first wait until it is ready.
    fn build_joint(&self, name: &'static str, wanted: &BTreeSet<&'static str>) -> Result<BTreeMap<i64, DataFrame>> {
        let joint = derive::joint(name).with_context(|| format!("internal: {name} is not a joint table"))?;
        let request = joint_request(name, wanted);
        let extract = |member: &TraceProcess| match self.joint.take(name, wanted, member.process.process) {
            Some(part) => Ok(part),
            None => self.joint_part(member, name, wanted),
        };
        let extracted = self.each(self.members(), |member| member.memory_bytes_of(&request), extract)?;
        let parts: Vec<derive::ProcessPart<'_>> =
            self.members().iter().map(|member| &member.process).zip(extracted).collect();
        let rows = (joint.relate)(&parts, self.metrics())?;
        Ok(parts.iter().map(|(process, _)| process.process).zip(rows).collect())
    }

    /// The part of a process for the `wanted` columns of a table over all processes.
    ///
    /// # Errors
    /// When a table of the process cannot be read.
    pub fn joint_part(
        &self,
        member: &TraceProcess,
        name: &'static str,
        wanted: &BTreeSet<&'static str>,
    ) -> Result<DataFrame> {
        let joint = derive::joint(name).with_context(|| format!("internal: {name} is not a joint table"))?;
        let context = ReadContext { at_once: true, keep: (joint.keep)(wanted), ..self.context(member) };
        let tables = joint_request(name, wanted).into_iter().map(|(table, columns)| {
            let rows = self.read_in(&context, member, known_table(table)?, &columns)?;
            Ok((table, collected(&rows.frame)?))
        });
        (joint.extract)(&member.process, &tables.collect::<Result<_>>()?, &self.whole(member), wanted)
    }
}

/// The columns that the `wanted` columns of a table over all processes need.
fn joint_request(name: &'static str, wanted: &BTreeSet<&'static str>) -> Request {
    let needs = derive::needs_of(name, wanted).into_iter();
    needs.map(|(table, columns)| (table, columns.into_iter().collect())).collect()
}
