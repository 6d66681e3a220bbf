//! Steps of statements that are worked out of a few processes at a time, whose tables are let go of then.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use polars::prelude::{DataFrame, LazyFrame, PolarsResult};

use crate::engine::expressions::{Expressions, bare_name};
use crate::engine::mentions::mentioned;
use crate::engine::run::{rows, united};
use crate::trace::{Member, ProcessTables, Request, Trace};

/// Estimated bytes of processes that are worked on together: enough that planning takes a small part of the time.
const BLOCK_BYTES: u64 = 16 << 20;

/// A step of a statement whose rows are those of each process, one after the other.
pub struct LocalStep {
    /// Its name.
    pub name: String,
    /// A statement that has its rows.
    sql: String,
    /// What that reads.
    request: Request,
}

/// Takes steps out of a statement, with what only they read; gives the rest of it.
pub fn apart(sql: &str, names: &[String]) -> (Vec<LocalStep>, String) {
    let nothing = || (Vec::new(), sql.to_owned());
    if names.is_empty() {
        return nothing();
    }
    let Some(mut expressions) = Expressions::of(sql) else { return nothing() };
    let step = |name: &String| {
        let sql = expressions.sql_of(name)?;
        Some(LocalStep { name: name.clone(), request: mentioned(&sql), sql })
    };
    let steps: Vec<LocalStep> = names.iter().filter_map(step).collect();
    let is_step = |name: &String| steps.iter().any(|step| step.name == *name);
    expressions.with.cte_tables.retain(|cte| !bare_name(cte).is_some_and(|name| is_step(&name)));
    expressions.drop_unused();
    (steps, expressions.into_sql())
}

/// Tables of processes that are worked on together.
struct Block {
    /// Processes whose tables are not there yet.
    missing: usize,
    tables: BTreeMap<i64, ProcessTables>,
}

/// Steps of several statements.
pub struct Locals<'a> {
    steps: Vec<&'a LocalStep>,
    request: Request,
    /// The number of the block of each process.
    block_of: BTreeMap<i64, usize>,
    blocks: Vec<Mutex<Block>>,
    /// By step and block.
    rows: Mutex<BTreeMap<(usize, usize), PolarsResult<DataFrame>>>,
}

impl<'a> Locals<'a> {
    /// Steps to be worked out over a trace.
    pub fn of(trace: &Trace, steps: Vec<&'a LocalStep>) -> Self {
        let request = united(steps.iter().map(|step| &step.request));
        let mut block_of = BTreeMap::new();
        let mut blocks: Vec<Block> = Vec::new();
        let mut left_bytes = 0_u64;
        for member in trace.members() {
            if left_bytes == 0 {
                blocks.push(Block { missing: 0, tables: BTreeMap::new() });
                left_bytes = BLOCK_BYTES;
            }
            left_bytes = left_bytes.saturating_sub(member.memory_bytes_of(&request).max(1));
            if let Some(block) = blocks.last_mut() {
                block.missing += 1;
            }
            block_of.insert(member.process.process, blocks.len() - 1);
        }
        let blocks = blocks.into_iter().map(Mutex::new).collect();
        Self { steps, request, block_of, blocks, rows: Mutex::default() }
    }

    /// What the steps read.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Takes the tables of a process, and works out the steps if they are the last of a block.
    ///
    /// # Errors
    /// When polars cannot put tables together.
    pub fn see(&self, trace: &Trace, member: &Member, tables: &ProcessTables) -> Result<()> {
        let process = member.process.process;
        let Some((number, block)) = self.block_of.get(&process).and_then(|at| Some((*at, self.blocks.get(*at)?)))
        else {
            return Ok(());
        };
        let complete = {
            let mut block = block.lock().unwrap_or_else(PoisonError::into_inner);
            block.tables.insert(process, trace.tables_of(member, &self.request, tables)?);
            block.missing = block.missing.saturating_sub(1);
            (block.missing == 0).then(|| std::mem::take(&mut block.tables))
        };
        let Some(tables) = complete else { return Ok(()) };
        let tables = trace.united(&self.request, tables.into_values().collect())?;
        for (at, step) in self.steps.iter().enumerate() {
            let of_step = |(name, frame): (&&'static str, &LazyFrame)| {
                step.request.contains_key(name).then(|| ((*name).to_owned(), frame.clone()))
            };
            let rows = rows(tables.iter().filter_map(of_step).collect(), &step.sql);
            self.rows.lock().unwrap_or_else(PoisonError::into_inner).insert((at, number), rows);
        }
        Ok(())
    }

    /// The rows of each step in turn; `None` of one that could not be worked out.
    pub fn finish(self) -> Vec<Option<DataFrame>> {
        let mut steps: Vec<Vec<PolarsResult<DataFrame>>> = self.steps.iter().map(|_| Vec::new()).collect();
        for ((step, _), rows) in self.rows.into_inner().unwrap_or_else(PoisonError::into_inner) {
            if let Some(blocks) = steps.get_mut(step) {
                blocks.push(rows);
            }
        }
        let together = |blocks: Vec<PolarsResult<DataFrame>>| {
            let mut blocks = blocks.into_iter();
            let mut all = blocks.next()?.ok()?;
            for block in blocks {
                all.vstack_mut(&block.ok()?).ok()?;
            }
            Some(all)
        };
        steps.into_iter().map(together).collect()
    }
}
