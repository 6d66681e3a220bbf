//! Tables of a trace that consumers receive while they are read.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::{IntoLazy, LazyFrame};

use super::consumer::{TableConsumer, with_consumers};
use super::lazy_trace::{Trace, TraceProcess};
use crate::columns::frames::{collected, is_identity, selected};
use crate::columns::requests::{ProcessTables, Request, columns_of, known_table};

/// Maximum number of parts of a table in a plan: the plan of every statement contains each part with its types.
const MAX_PARTS: usize = 32;
/// Number of processes whose rows are joined.
const BLOCK: usize = 64;

impl Trace {
    /// The requested columns of some tables of a process, with the columns that identify it.
    ///
    /// # Errors
    /// When a table does not exist, or polars cannot select its columns.
    pub fn tables_of(&self, member: &TraceProcess, request: &Request, tables: &ProcessTables) -> Result<ProcessTables> {
        let narrow = |(name, frame): (&&'static str, &LazyFrame)| {
            let columns = request.get(name)?;
            let narrow = |table| {
                let own = columns_of(table, columns).filter(|name| !is_identity(name));
                Ok((*name, collected(&selected(frame, own)?)?.lazy()))
            };
            Some(known_table(name).and_then(narrow))
        };
        let narrowed = tables.iter().filter_map(narrow).collect::<Result<_>>()?;
        Ok(self.identified(member, request, narrowed))
    }

    /// Like [`Trace::frames`], with consumers of tables of every process. These tables need not be requested; they are dropped after their
    /// last consumer.
    ///
    /// # Errors
    /// As for [`Trace::frames`], and when a consumer fails.
    pub fn frames_with_consumers<'a, 'b: 'a>(
        &self,
        request: &Request,
        looks_at: impl Fn(&TraceProcess) -> Vec<&'a TableConsumer<'b>> + Sync + Send,
    ) -> Result<BTreeMap<&'static str, LazyFrame>> {
        let read = |member: &TraceProcess| -> Result<ProcessTables> {
            let consumers = looks_at(member);
            let mut tables = self.process_frames_with_consumers(member, request, &consumers)?;
            let wider = with_consumers(request, &consumers);
            tables.retain(|name, _| request.contains_key(name));
            for (name, frame) in &mut tables {
                let (Some(columns), Some(read)) = (request.get(name), wider.get(name)) else { continue };
                if columns != read {
                    let kept = columns_of(known_table(name)?, columns).filter(|name| !is_identity(name));
                    *frame = collected(&selected(frame, kept)?)?.lazy();
                }
            }
            Ok(self.identified(member, request, tables))
        };
        let cost = |member: &TraceProcess| member.memory_bytes_of(&with_consumers(request, &looks_at(member)));
        let per_process = self.each(self.members(), cost, read)?;
        if per_process.len() <= MAX_PARTS {
            return self.united(request, per_process);
        }
        // Block by block, so that at most one block is in memory twice.
        let mut blocks = Vec::new();
        let mut left = per_process.into_iter().peekable();
        while left.peek().is_some() {
            let block = left.by_ref().take(BLOCK).collect();
            let united = self.united(request, block)?;
            let rows = |(name, frame): (&'static str, LazyFrame)| Ok((name, collected(&frame)?.lazy()));
            blocks.push(united.into_iter().map(rows).collect::<Result<ProcessTables>>()?);
        }
        self.united(request, blocks)
    }

    /// Reads the tables of some processes again only for consumers. `read` is the request of the other processes: the sources of some
    /// tables depend on it.
    pub fn consume_again(
        &self,
        processes: &BTreeSet<i64>,
        read: &Request,
        consumers: &[TableConsumer<'_>],
    ) -> Result<()> {
        let chosen = |member: &&TraceProcess| processes.contains(&member.process.process);
        let members: Vec<&TraceProcess> = self.members().iter().filter(chosen).collect();
        let consumers: Vec<&TableConsumer<'_>> = consumers.iter().collect();
        let request = with_consumers(read, &consumers);
        let consume = |member: &&TraceProcess| self.process_frames_with_consumers(member, read, &consumers).map(drop);
        self.each(&members, |member| member.memory_bytes_of(&request), consume)?;
        Ok(())
    }
}
