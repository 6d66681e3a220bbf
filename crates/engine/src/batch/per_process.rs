//! Steps of statements that are computed from a few processes at a time. The tables of these processes are dropped afterwards.

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

/// Estimated bytes of processes that are handled together: enough that planning takes a small part of the time. In tests each process is
/// handled alone.
const BLOCK_BYTES: u64 = if cfg!(test) { 1 } else { 16 << 20 };

/// Steps of a statement whose rows are the rows of each process, one process after the other.
pub(crate) struct PerProcessSteps {
    pub names: Vec<String>,
    /// The statement with these steps.
    statement: PreparedStatement,
    /// Tables and columns that the statement reads.
    request: Request,
}

/// Takes steps out of a statement, with the expressions that only they read, and returns both parts. `None` if the statement has none of
/// the steps.
pub fn apart(statement: &ParsedStatement, names: &[String]) -> Option<(PerProcessSteps, ParsedStatement)> {
    if names.is_empty() {
        return None;
    }
    let mut expressions = Expressions::new(statement)?;
    let is_step = |cte: &Cte| bare_name(cte).is_some_and(|name| names.contains(&name));
    // Options may remove steps from a query.
    let there = expressions.with.cte_tables.iter().filter(|cte| is_step(cte));
    let there: Vec<String> = there.filter_map(bare_name).collect();
    let statement = expressions.statement_of(&there).filter(|_| !there.is_empty())?;
    expressions.with.cte_tables.retain(|cte| !is_step(cte));
    expressions.drop_unused();
    let request = referenced_columns(&statement);
    let steps = PerProcessSteps { statement: statement.prepare(&there), names: there, request };
    Some((steps, expressions.into_statement()))
}

/// Minimum of the estimated bytes of a process, so that a block does not keep the tables of thousands of small processes.
const MIN_BYTES: u64 = 256 << 10;

/// Rows of steps by their names.
pub(crate) type Rows = BTreeMap<String, DataFrame>;

/// Tables of processes that are handled together.
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

    /// Takes the tables of a process. Returns the number and the tables of its block if the block is complete.
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
    /// By statement and block; `None` for a statement that cannot be run in steps.
    rows: Mutex<BTreeMap<(usize, usize), Option<Rows>>>,
}

impl<'a> Locals<'a> {
    /// Steps to compute over a trace.
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

    /// Consumers that compute the steps of a block when the last of its tables is read.
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

    /// The rows of the steps of each statement in turn; `None` if they could not be computed.
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
