//! Steps of statements that are worked out of a few processes at a time, whose tables are dropped then.

use std::collections::BTreeMap;

use anyhow::Result;
use parking_lot::Mutex;
use polars::prelude::{DataFrame, LazyFrame};
use sqlparser::ast::Cte;

use crate::execution::rows_of_steps;
use crate::expressions::{Expressions, bare_name};
use crate::parsed::{ParsedStatement, PreparedStatement};
use crate::referenced_columns::referenced_columns;
use wavesieve_tables::columns::requests::{ProcessTables, Request, united};
use wavesieve_tables::trace::consumer::TableConsumer;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Estimated bytes of processes that are worked on together: enough that planning takes a small part of the time. In tests each
/// process is worked on by itself.
const BLOCK_BYTES: u64 = if cfg!(test) { 1 } else { 16 << 20 };

/// Steps of a statement whose rows are those of each process, one after the other.
pub(crate) struct PerProcessSteps {
    pub names: Vec<String>,
    /// A statement that has them.
    statement: PreparedStatement,
    /// Tables and columns that the statement reads.
    request: Request,
}

/// Takes steps out of a statement, with what only they read; also returns the rest of it. `None` if it has none of them.
pub fn apart(statement: &ParsedStatement, names: &[String]) -> Option<(PerProcessSteps, ParsedStatement)> {
    if names.is_empty() {
        return None;
    }
    let mut expressions = Expressions::new(statement)?;
    let is_step = |cte: &Cte| bare_name(cte).is_some_and(|name| names.contains(&name));
    // A query may be without some of its steps, as it was asked.
    let there = expressions.with.cte_tables.iter().filter(|cte| is_step(cte));
    let there: Vec<String> = there.filter_map(bare_name).collect();
    let statement = expressions.statement_of(&there).filter(|_| !there.is_empty())?;
    expressions.with.cte_tables.retain(|cte| !is_step(cte));
    expressions.drop_unused();
    let request = referenced_columns(&statement);
    let steps = PerProcessSteps { statement: statement.prepare(&there), names: there, request };
    Some((steps, expressions.into_statement()))
}

/// Estimated bytes of the rows of a process; a small one counts for this much, so that its tables are not kept for thousands of others.
const MIN_BYTES: u64 = 256 << 10;

/// Rows of steps by their names.
pub(crate) type Rows = BTreeMap<String, DataFrame>;

/// Tables of processes that are worked on together.
struct Block {
    /// Processes whose tables are not there yet.
    missing: usize,
    tables: BTreeMap<i64, ProcessTables>,
}

/// Steps of statements that read tables in common.
struct Sharing<'a> {
    /// The statements with their places among all.
    statements: Vec<(usize, &'a PerProcessSteps)>,
    request: Request,
    /// The number of the block of each process.
    block_of: BTreeMap<i64, usize>,
    blocks: Vec<Mutex<Block>>,
}

impl<'a> Sharing<'a> {
    fn new(trace: &Trace, statements: Vec<(usize, &'a PerProcessSteps)>) -> Self {
        let request = united(statements.iter().map(|(_, steps)| &steps.request));
        let mut block_of = BTreeMap::new();
        let mut blocks: Vec<Block> = Vec::new();
        let mut left_bytes = 0_u64;
        for member in trace.members() {
            if left_bytes == 0 {
                blocks.push(Block { missing: 0, tables: BTreeMap::new() });
                left_bytes = BLOCK_BYTES;
            }
            left_bytes = left_bytes.saturating_sub(member.row_bytes_of(&request).max(MIN_BYTES));
            if let Some(block) = blocks.last_mut() {
                block.missing += 1;
            }
            block_of.insert(member.process.process, blocks.len() - 1);
        }
        let blocks = blocks.into_iter().map(Mutex::new).collect();
        Self { statements, request, block_of, blocks }
    }

    /// Takes the tables of a process; gives the number and the tables of its block, if they are the last of it.
    fn completed(
        &self,
        trace: &Trace,
        member: &TraceProcess,
        tables: &ProcessTables,
    ) -> Result<Option<(usize, BTreeMap<&'static str, LazyFrame>)>> {
        let process = member.process.process;
        let Some((number, block)) = self.block_of.get(&process).and_then(|at| Some((*at, self.blocks.get(*at)?)))
        else {
            return Ok(None);
        };
        let tables = trace.tables_of(member, &self.request, tables)?;
        let complete = {
            let mut block = block.lock();
            block.tables.insert(process, tables);
            block.missing = block.missing.saturating_sub(1);
            (block.missing == 0).then(|| std::mem::take(&mut block.tables))
        };
        let Some(tables) = complete else { return Ok(None) };
        Ok(Some((number, trace.united(&self.request, tables.into_values().collect())?)))
    }
}

/// Steps of several statements.
pub(crate) struct Locals<'a> {
    statements: usize,
    sharing: Vec<Sharing<'a>>,
    /// By statement and block; a statement that cannot be run in steps has none.
    rows: Mutex<BTreeMap<(usize, usize), Option<Rows>>>,
}

impl<'a> Locals<'a> {
    /// Steps to be worked out over a trace.
    pub fn new(trace: &Trace, statements: &[&'a PerProcessSteps]) -> Self {
        let mut sharing: Vec<Vec<(usize, &PerProcessSteps)>> = Vec::new();
        for one in statements.iter().copied().enumerate() {
            let shares = |others: &mut Vec<(usize, &PerProcessSteps)>| {
                others.iter().any(|(_, other)| other.request.keys().any(|table| one.1.request.contains_key(table)))
            };
            let mut together: Vec<_> = sharing.extract_if(.., shares).flatten().collect();
            together.push(one);
            sharing.push(together);
        }
        let sharing = sharing.into_iter().map(|statements| Sharing::new(trace, statements)).collect();
        Self { statements: statements.len(), sharing, rows: Mutex::default() }
    }

    /// Works out the steps: of tables of each process those that read them, when these are the last of a block.
    pub fn consumers<'b>(&'b self, trace: &'b Trace) -> impl Iterator<Item = TableConsumer<'b>> {
        self.sharing.iter().map(move |sharing| {
            TableConsumer::new(sharing.request.clone(), move |member, tables| self.see(trace, sharing, member, tables))
        })
    }

    fn see(&self, trace: &Trace, sharing: &Sharing<'_>, member: &TraceProcess, tables: &ProcessTables) -> Result<()> {
        let Some((number, tables)) = sharing.completed(trace, member, tables)? else { return Ok(()) };
        let work_out = |(at, steps): &(usize, &PerProcessSteps)| {
            let of_statement = |(name, frame): (&&'static str, &LazyFrame)| {
                steps.request.contains_key(name).then(|| ((*name).to_owned(), frame.clone()))
            };
            let rows = rows_of_steps(tables.iter().filter_map(of_statement).collect(), &steps.statement, &steps.names);
            self.rows.lock().insert((*at, number), rows.ok());
            Ok(())
        };
        let workers = trace.jobs().shared_by(trace.members().len());
        workers.run(&sharing.statements, |_| 0, work_out).map(drop)
    }

    /// The rows of the steps of each statement in turn; `None` where they could not be worked out.
    pub fn finish(self) -> Vec<Option<Rows>> {
        let mut statements: Vec<Vec<Option<Rows>>> = vec![Vec::new(); self.statements];
        for ((at, _), rows) in self.rows.into_inner() {
            if let Some(blocks) = statements.get_mut(at) {
                blocks.push(rows);
            }
        }
        statements.into_iter().map(together).collect()
    }
}

fn together(blocks: Vec<Option<Rows>>) -> Option<Rows> {
    let mut blocks = blocks.into_iter();
    let mut all = blocks.next()??;
    for block in blocks {
        let block = block?;
        for (name, rows) in &mut all {
            rows.vstack_mut(block.get(name)?).ok()?;
        }
    }
    Some(all)
}
