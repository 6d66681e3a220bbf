//! Tables of a trace that are looked at while they are read.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::{IntoLazy, LazyFrame};

use super::logical::{Member, Trace};
use super::looks::{Look, with_looks};
use crate::columns::frames::{collected, is_identity, selected};
use crate::columns::requests::{ProcessTables, Request, columns_of, known_table};

/// Parts of a table of which a plan may be made: every statement has each of them, with its types, in its plan.
const MOST_PARTS: usize = 32;
/// Processes whose rows are put together.
const BLOCK: usize = 64;

impl Trace {
    /// The requested columns of some tables of a process, with those that name it.
    ///
    /// # Errors
    /// When there is no table of a name, or polars cannot select its columns.
    pub fn tables_of(&self, member: &Member, request: &Request, tables: &ProcessTables) -> Result<ProcessTables> {
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

    /// As [`Trace::frames`], with looks at tables of every process that need not be among those, which are let go of when the
    /// last look at them was taken.
    ///
    /// # Errors
    /// As [`Trace::frames`], and when a look cannot be taken.
    pub fn frames_seen<'a, 'b: 'a>(
        &self,
        request: &Request,
        looks_at: impl Fn(&Member) -> Vec<&'a Look<'b>> + Sync + Send,
    ) -> Result<BTreeMap<&'static str, LazyFrame>> {
        let read = |member: &Member| -> Result<ProcessTables> {
            let looks = looks_at(member);
            let mut tables = self.process_frames_seen(member, request, &looks)?;
            let wider = with_looks(request, &looks);
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
        let cost = |member: &Member| member.memory_bytes_of(&with_looks(request, &looks_at(member)));
        let per_process = self.each(self.members(), cost, read)?;
        if per_process.len() <= MOST_PARTS {
            return self.united(request, per_process);
        }
        // Block after block, so that no more than one of them is there twice.
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

    /// Reads the tables of some processes for looks alone.
    ///
    /// # Errors
    /// As [`Trace::frames_seen`].
    pub fn look_again(&self, processes: &BTreeSet<i64>, looks: &[Look<'_>]) -> Result<()> {
        let members: Vec<&Member> =
            self.members().iter().filter(|member| processes.contains(&member.process.process)).collect();
        let looks: Vec<&Look<'_>> = looks.iter().collect();
        let nothing = Request::new();
        let read = |member: &&Member| self.process_frames_seen(member, &nothing, &looks).map(drop);
        self.each(&members, |member| member.memory_bytes_of(&with_looks(&nothing, &looks)), read)?;
        Ok(())
    }
}
