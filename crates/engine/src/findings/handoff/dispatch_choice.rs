//! Chooses the dispatch that represents a row, and its number in the count of rocprofv3.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use polars::prelude::{DataFrame, DataType, Expr, IntoLazy, LazyFrame, SortMultipleOptions, col, lit};

use super::row::HandoffRow;
use crate::NameForm;
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::trace::{Trace, TraceProcess};

const KERNELS: &str = "kernels";
const SYMBOLS: &str = "kernel_symbols";
/// Columns to read for the dispatches that the filters keep, with the columns by which rows choose some of them.
const COLUMNS: [&str; 9] =
    ["dispatch_id", "kernel_id", "kernel_name", "gpu", "agent_id", "start_ns", "end_ns", "duration_ns", "valid"];
/// Column with the short form of names.
const SHORT_NAME: &str = "short_name";
/// Maximum number of processes whose dispatches are in memory.
const MOST_READ: usize = 4;
/// Dispatches on each side of the chosen one whose counters are collected.
const NEIGHBORS: i64 = 2;

/// A dispatch that represents a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenDispatch {
    /// Place of the process among those of the trace.
    pub member: usize,
    /// The recorded name of the kernel.
    pub kernel: String,
    /// Its symbol.
    pub symbol: Option<String>,
    pub agent_id: Option<i64>,
    pub gpu: Option<i64>,
    pub dispatch_id: i64,
    /// Its number among the dispatches of its kernel on its GPU, from 1.
    pub number: i64,
    /// Number of these dispatches.
    pub dispatches: i64,
    pub start_ns: i64,
    pub end_ns: i64,
    /// Whether the row names this dispatch. Otherwise it has the median duration of the dispatches of the row, or is the nearest to it that
    /// is not the first of its kernel.
    pub is_named: bool,
}

impl ChosenDispatch {
    /// The first and the last dispatch whose counters to collect: the dispatches around a median, without the first, which warms up.
    pub(super) fn counted(&self) -> (i64, i64) {
        if self.is_named {
            return (self.number, self.number);
        }
        let earliest = if self.number > 1 { 2 } else { 1 };
        ((self.number - NEIGHBORS).max(earliest), (self.number + NEIGHBORS).min(self.dispatches))
    }
}

/// The dispatches of a trace, read for each process when first needed.
pub(super) struct Dispatches<'a> {
    trace: &'a Trace,
    name: NameForm,
    request: Request,
    read: BTreeMap<usize, OfProcess>,
}

/// The dispatches of a process that the filters keep, all recorded dispatches, and the kernels.
struct OfProcess {
    kept: DataFrame,
    recorded: DataFrame,
    symbols: DataFrame,
}

impl<'a> Dispatches<'a> {
    /// `name` is the form of kernel names in rows, and `keys` are the columns by which rows choose dispatches.
    pub(super) fn new(trace: &'a Trace, name: NameForm, keys: impl IntoIterator<Item = &'static str>) -> Self {
        let mut columns: BTreeSet<&'static str> = COLUMNS.into_iter().chain(keys).collect();
        if name == NameForm::Short {
            columns.insert(SHORT_NAME);
        }
        Self { trace, name, request: Request::from([(KERNELS, columns)]), read: BTreeMap::new() }
    }

    /// The dispatch that a row names, or a typical one, in the first process that has any.
    ///
    /// # Errors
    /// When the dispatches cannot be read.
    pub(super) fn choose(&mut self, row: &HandoffRow) -> Result<Option<ChosenDispatch>> {
        let Some(kernel) = &row.kernel else { return Ok(None) };
        let trace = self.trace;
        let is_of_row = |member: &TraceProcess| {
            let process = &member.process;
            row.process.is_none_or(|number| number == process.process)
                && row.rank.is_none_or(|rank| rank == process.rank)
        };
        for (place, member) in trace.members().iter().enumerate().filter(|(_, member)| is_of_row(member)) {
            if self.read.len() >= MOST_READ && !self.read.contains_key(&place) {
                self.read.clear();
            }
            let of_process = match self.read.entry(place) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(OfProcess::read(trace, member, &self.request)?),
            };
            if let Some(chosen) = of_process.choose(row, kernel, self.name, place)? {
                return Ok(Some(chosen));
            }
        }
        Ok(None)
    }
}

impl OfProcess {
    fn read(trace: &Trace, member: &TraceProcess, request: &Request) -> Result<Self> {
        let kept = trace.process_frames(member, request)?.remove(KERNELS).unwrap_or_default();
        let mut whole = trace.whole(member).read(&[
            (KERNELS, &["dispatch_id", "kernel_id", "agent_id"]),
            (SYMBOLS, &["kernel_id", "kernel_name", "base_name", "mangled_name"]),
        ])?;
        let texts = ["kernel_name", "base_name", "mangled_name"].map(|name| col(name).cast(DataType::String));
        let symbols = whole.remove(SYMBOLS).unwrap_or_default().with_columns(texts);
        Ok(Self {
            kept: kept.filter(col("valid")).collect()?,
            recorded: whole.remove(KERNELS).unwrap_or_default().collect()?,
            symbols: symbols.collect()?,
        })
    }

    fn choose(&self, row: &HandoffRow, kernel: &str, form: NameForm, member: usize) -> Result<Option<ChosenDispatch>> {
        let mut candidates = self.named(kernel, form)?;
        for (key, value) in &row.keys {
            candidates = candidates.filter(col(*key).eq(lit(*value)));
        }
        let order = ["duration_ns", "dispatch_id"];
        let candidates = candidates.sort(order, SortMultipleOptions::default()).collect()?;
        let column = |name: &str| Ok::<_, anyhow::Error>(candidates.column(name)?.i64()?);
        let ids = column("dispatch_id")?;
        let starts = column("start_ns")?;
        let place = |is_named: &dyn Fn(usize) -> bool| (0..candidates.height()).find(|place| is_named(*place));
        let by_id = row.dispatch_id.and_then(|id| place(&|at| ids.get(at) == Some(id)));
        let named = by_id.or_else(|| row.start_ns.and_then(|start| place(&|at| starts.get(at) == Some(start))));
        if candidates.height() == 0 {
            return Ok(None);
        }
        let kernels = column("kernel_id")?;
        let agents = column("agent_id")?;
        let number_at = |at: usize| self.number(kernels.get(at), agents.get(at), ids.get(at));
        let at = match named {
            Some(at) => at,
            None => steady_median(candidates.height(), |at| Ok(number_at(at)?.0 > 1))?,
        };
        let present = |name: &str| column(name)?.get(at).with_context(|| format!("a dispatch has no {name}"));
        let (number, dispatches) = number_at(at)?;
        let recorded = candidates.column("kernel_name")?.cast(&DataType::String)?;
        Ok(Some(ChosenDispatch {
            member,
            kernel: recorded.str()?.get(at).unwrap_or(kernel).to_owned(),
            symbol: self.symbol(kernels.get(at))?,
            agent_id: agents.get(at),
            gpu: column("gpu")?.get(at),
            dispatch_id: present("dispatch_id")?,
            number,
            dispatches,
            start_ns: present("start_ns")?,
            end_ns: present("end_ns")?,
            is_named: named.is_some(),
        }))
    }

    /// The dispatches of the kernels with a name.
    fn named(&self, kernel: &str, form: NameForm) -> Result<LazyFrame> {
        let text = |column: &str| col(column).cast(DataType::String).eq(lit(kernel));
        let condition: Expr = match form {
            NameForm::Readable | NameForm::Full => text("kernel_name"),
            NameForm::Short => text(SHORT_NAME),
            NameForm::Base => self.has_symbol("base_name", kernel)?,
            NameForm::Mangled => self.has_symbol("mangled_name", kernel)?.or(text("kernel_name")),
        };
        Ok(self.kept.clone().lazy().filter(condition))
    }

    /// Whether the kernel of a dispatch has this name among the symbols.
    fn has_symbol(&self, column: &str, name: &str) -> Result<Expr> {
        let ids = self.symbols.column("kernel_id")?.i64()?;
        let names = self.symbols.column(column)?.str()?.iter();
        let ids = ids.iter().zip(names).filter(|(_, known)| *known == Some(name)).filter_map(|(id, _)| id);
        Ok(ids.fold(lit(false), |condition, id| condition.or(col("kernel_id").eq(lit(id)))))
    }

    fn symbol(&self, kernel_id: Option<i64>) -> Result<Option<String>> {
        let ids = self.symbols.column("kernel_id")?.i64()?;
        let Some(at) = ids.iter().position(|id| id.is_some() && id == kernel_id) else { return Ok(None) };
        Ok(self.symbols.column("mangled_name")?.str()?.get(at).map(ToOwned::to_owned))
    }

    /// The number of a dispatch among the dispatches of its kernel on its GPU, and their count. rocprofv3 counts each loaded kernel
    /// separately, and kernels are loaded per GPU.
    fn number(&self, kernel_id: Option<i64>, agent_id: Option<i64>, dispatch_id: Option<i64>) -> Result<(i64, i64)> {
        let column = |name: &str| Ok::<_, anyhow::Error>(self.recorded.column(name)?.i64()?);
        let (kernels, agents, ids) = (column("kernel_id")?, column("agent_id")?, column("dispatch_id")?);
        let (mut number, mut dispatches) = (0, 0);
        for ((kernel, agent), id) in kernels.iter().zip(agents.iter()).zip(ids.iter()) {
            if kernel == kernel_id && agent == agent_id {
                dispatches += 1;
                number += i64::from(id <= dispatch_id);
            }
        }
        Ok((number, dispatches))
    }
}

/// The place of the median in a sorted list, or the nearest steady place, if any is steady.
fn steady_median(height: usize, is_steady: impl Fn(usize) -> Result<bool>) -> Result<usize> {
    let median = height.saturating_sub(1) / 2;
    for at in (median..height).chain((0..median).rev()) {
        if is_steady(at)? {
            return Ok(at);
        }
    }
    Ok(median)
}
