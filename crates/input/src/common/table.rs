//! Collects the canonical columns of one table of a process, and its anomalies.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use super::kernel_symbols::Resolved;
use super::{IdIndex, SymbolNames, ValidRows};
use wavesieve_model::schema::anomaly::{Anomaly, Damage, Severity};
use wavesieve_model::schema::process::Gpu;
use wavesieve_model::schema::validity::Validity;
use wavesieve_model::schema::{Column as Declaration, Table};
use wavesieve_tables::columns::frames::{dictionary_column, dictionary_column_at, null_column};
use wavesieve_tables::columns::values::{I64Values, integers};
use wavesieve_tables::trace::source::{ReadContext, Rows};

/// A canonical table that is being read, with the requested and the assembled columns.
pub struct TableBuilder<'a> {
    /// Place of the process, category rules, threads.
    pub context: &'a ReadContext<'a>,
    table: &'static Table,
    wanted: &'a [&'static Declaration],
    columns: BTreeMap<&'static str, Column>,
    anomalies: Vec<Anomaly>,
    damage: Vec<Damage>,
    height: usize,
    absurd_sizes: Vec<usize>,
}

/// The column of sizes.
const BYTES: &str = "bytes";
/// Maximum plausible size: the address space of processors.
const MAX_BYTES: i64 = 1 << 48;

fn is_absurd(size: i64) -> bool {
    !(0..=MAX_BYTES).contains(&size)
}

impl<'a> TableBuilder<'a> {
    /// Creates a builder for the `wanted` columns of `table`.
    pub fn new(context: &'a ReadContext<'a>, table: &'static Table, wanted: &'a [&'static Declaration]) -> Self {
        Self {
            context,
            table,
            wanted,
            columns: BTreeMap::new(),
            anomalies: Vec::new(),
            damage: Vec::new(),
            height: 0,
            absurd_sizes: Vec::new(),
        }
    }

    /// Name of the canonical table.
    pub fn table_name(&self) -> &'static str {
        self.table.name
    }

    /// Whether one of the named canonical columns is requested.
    pub fn wants(&self, names: &[&str]) -> bool {
        self.wanted.iter().any(|column| names.contains(&column.name))
    }

    /// Whether a canonical column may have missing values.
    pub(crate) fn is_nullable(&self, name: &str) -> bool {
        self.table.column(name).is_none_or(|column| column.nullable)
    }

    /// Names of the requested canonical columns.
    pub fn wanted(&self) -> BTreeSet<&'static str> {
        self.wanted.iter().map(|column| column.name).collect()
    }

    /// The source columns of the `pairs` (canonical columns, source column) whose canonical columns are requested.
    pub fn sources(&self, pairs: &[(&[&str], &'static str)]) -> Vec<&'static str> {
        pairs.iter().filter(|(canonical, _)| self.wants(canonical)).map(|(_, source)| *source).collect()
    }

    /// Fixes the number of rows.
    pub fn set_height(&mut self, height: usize) {
        self.height = height;
    }

    /// Adds a canonical column if it is requested. Impossible sizes become null, or 0 if the column may not be null.
    pub fn put(&mut self, name: &'static str, column: impl IntoColumn) {
        if self.wants(&[name]) {
            let mut column = column.into_column().with_name(name.into());
            if let (BYTES, Ok(sizes)) = (name, column.i64()) {
                self.absurd_sizes = sizes
                    .iter()
                    .map(|size| size.is_some_and(is_absurd))
                    .enumerate()
                    .filter(|(_, absurd)| *absurd)
                    .map(|(row, _)| row)
                    .collect();
                if !self.absurd_sizes.is_empty() {
                    let instead = (!self.is_nullable(BYTES)).then_some(0);
                    let sizes = integers(
                        BYTES,
                        I64Values::new(sizes)
                            .into_rows()
                            .map(|size| if size.is_some_and(is_absurd) { instead } else { size }),
                    );
                    column = sizes.into_column();
                }
            }
            // Many columns of many traces have no values. Stored as a single value, they take no memory.
            let is_empty_field = !column.is_empty() && column.null_count() == column.len();
            let column =
                if is_empty_field { Column::full_null(name.into(), column.len(), column.dtype()) } else { column };
            self.columns.insert(name, column);
        }
    }

    /// Adds a canonical column that is costly to build, if it is requested.
    pub(crate) fn put_with(&mut self, name: &'static str, make: impl FnOnce() -> Result<Column>) -> Result<()> {
        if self.wants(&[name]) {
            let column = make()?;
            self.put(name, column);
        }
        Ok(())
    }

    /// Adds a column of integers.
    pub(crate) fn put_integers(&mut self, name: &'static str, values: impl IntoIterator<Item = Option<i64>>) {
        if self.wants(&[name]) {
            self.put(name, Int64Chunked::from_iter_options(name.into(), values.into_iter()));
        }
    }

    /// Adds an anomaly unless its count is zero.
    pub fn note(&mut self, check_id: &'static str, severity: Severity, count: usize, first: Option<i64>, detail: &str) {
        if count > 0 {
            let first = first.map(|id| id.to_string());
            self.anomalies.push(Anomaly::new(check_id, severity, self.table.name, count, detail).first(first));
        }
    }

    /// Adds anomalies that were found while reading.
    pub(crate) fn note_all(&mut self, anomalies: impl IntoIterator<Item = Anomaly>) {
        self.anomalies.extend(anomalies);
    }

    /// Adds parts of the input that could not be read.
    pub fn report_damage(&mut self, damage: impl IntoIterator<Item = Damage>) {
        self.damage.extend(damage);
    }

    /// The damage that was reported so far.
    pub fn reported(&self) -> Vec<Damage> {
        self.damage.clone()
    }

    /// Adds start, end, duration and validity. Missing times are 0, which is not valid.
    pub(crate) fn put_times(&mut self, start: &Int64Chunked, end: &Int64Chunked) {
        if !self.wants(&["start_ns", "end_ns", "duration_ns", "valid"]) {
            return;
        }
        let (starts, ends) = (or(start, 0), or(end, 0));
        self.put_lengths(std::iter::once((starts.clone(), ends.clone())));
        self.put("start_ns", starts);
        self.put("end_ns", ends);
    }

    /// Adds duration and validity for starts and ends in pieces, which together cover all rows. Missing times are 0, which is not valid.
    pub(crate) fn put_lengths(&mut self, times: impl Iterator<Item = (Int64Chunked, Int64Chunked)>) {
        let (with_durations, with_valid) = (self.wants(&["duration_ns"]), self.wants(&["valid"]));
        if !with_durations && !with_valid {
            return;
        }
        let validity = Validity::from_facts(&self.context.process.facts);
        let mut durations: Vec<i64> = Vec::with_capacity(if with_durations { self.height } else { 0 });
        let mut valid = ValidRows::new(validity, if with_valid { self.height } else { 0 });
        for (starts, ends) in times {
            let (starts, ends) = (or(&starts, 0), or(&ends, 0));
            let both = || starts.into_no_null_iter().zip(ends.into_no_null_iter());
            if with_durations {
                durations.extend(both().map(|(start, end)| end.saturating_sub(start)));
            }
            if with_valid {
                both().for_each(|(start, end)| valid.push(start, end));
            }
        }
        if with_durations {
            self.put("duration_ns", Int64Chunked::from_vec("".into(), durations));
        }
        if with_valid {
            self.put("valid", BooleanChunked::from_bitmap("".into(), valid.finish()));
        }
    }

    /// Adds `gpu` and `device` of the agents, and a note about agents without an info row.
    pub(crate) fn put_gpu(&mut self, agents: &Int64Chunked, ids: &Int64Chunked) {
        if !self.wants(&["gpu", "device"]) {
            return;
        }
        let process = self.context.process;
        let gpu_of = |agent: Option<i64>| agent.and_then(|agent| process.gpus.get(&agent));
        for (name, number) in [("gpu", (|gpu| gpu.gpu) as fn(&Gpu) -> i64), ("device", |gpu| gpu.device)] {
            if self.wants(&[name]) {
                let numbers = remembering(agents, |agent| gpu_of(agent).map(number));
                self.put(name, integers(name, numbers));
            }
        }
        let known = |agent: i64| process.facts.agents.iter().any(|facts| facts.agent_id == agent);
        let is_orphan =
            |agent: Option<i64>| agent.is_some_and(|agent| !process.gpus.contains_key(&agent) && !known(agent));
        self.note_unknown_agents(remembering(agents, is_orphan), ids);
    }

    /// Adds a note about rows with an unknown agent.
    pub(crate) fn note_unknown_agents(&mut self, is_unknown: impl Iterator<Item = bool>, ids: &Int64Chunked) {
        let (count, first) = count_first(is_unknown, ids);
        let detail = "rows refer to an unknown agent; excluded from GPU time";
        self.note("missing_agent", Severity::Warning, count, first, detail);
    }

    /// Adds the names of all symbols of a process, in order.
    pub(crate) fn put_symbol_names(&mut self, names: &SymbolNames) -> Result<()> {
        let wanted = self.wanted();
        let forms = names.forms(self.context.categories, &|name| wanted.contains(name));
        for (name, values) in forms.columns() {
            self.put_with(name, || Ok(dictionary_column(name, values, (0..values.len()).map(Some))?))?;
        }
        Ok(())
    }

    /// Adds the names of the kernels of dispatches with these `ids`. Dispatches without a symbol are reported in a note with the text
    /// `unknown`.
    pub(crate) fn put_kernel_names_by_id(
        &mut self,
        names: &SymbolNames,
        index: &IdIndex,
        (kernel_ids, ids): (&Int64Chunked, &Int64Chunked),
        unknown: &str,
    ) -> Result<()> {
        let resolved = names.resolve(index, kernel_ids, self.context.categories);
        self.put_resolved_names(&resolved, || ids.clone(), unknown)
    }

    /// Works like [`Self::put_kernel_names_by_id`], with the names that were found; `ids` is only called for dispatches without a symbol.
    pub(crate) fn put_resolved_names(
        &mut self,
        resolved: &Resolved,
        ids: impl FnOnce() -> Int64Chunked,
        unknown: &str,
    ) -> Result<()> {
        for (name, dictionary) in resolved.names.dispatch_columns() {
            self.put_with(name, || Ok(dictionary_column_at(name, dictionary, &resolved.positions)?))?;
        }
        if !resolved.missing.is_empty() {
            let (count, first) = count_rows(&resolved.missing, &ids());
            self.note("missing_symbol", Severity::Warning, count, first, unknown);
        }
        Ok(())
    }

    /// The requested columns in canonical order; columns without values are null.
    pub fn finish(mut self) -> Result<Rows> {
        let key = self.table.key.last().and_then(|key| self.columns.get(key)?.i64().ok());
        let first = key.and_then(|ids| self.absurd_sizes.iter().filter_map(|row| ids.get(*row)).min());
        let detail = "sizes are negative or above 256 TiB; they count as unknown, or as 0";
        self.note("absurd_size", Severity::Warning, self.absurd_sizes.len(), first, detail);
        let columns = self
            .wanted
            .iter()
            .map(|declaration| {
                self.columns.remove(declaration.name).unwrap_or_else(|| null_column(declaration, self.height))
            })
            .collect();
        let frame = DataFrame::new(self.height, columns)?;
        Ok(Rows { frame: frame.lazy(), anomalies: self.anomalies, damage: self.damage })
    }
}

/// The result of `value` for every row, computed once for consecutive equal rows.
pub(crate) fn remembering<T: Copy, F: Fn(Option<i64>) -> T>(
    rows: &Int64Chunked,
    value: F,
) -> impl ExactSizeIterator<Item = T> + use<T, F> {
    let mut last: Option<(Option<i64>, T)> = None;
    I64Values::new(rows).into_rows().map(move |row| match last {
        Some((known, made)) if known == row => made,
        _ => {
            let made = value(row);
            last = Some((row, made));
            made
        }
    })
}

/// Number of marked rows, and the smallest of their ids.
pub(crate) fn count_first(marks: impl Iterator<Item = bool>, ids: &Int64Chunked) -> (usize, Option<i64>) {
    let rows: Vec<usize> = marks.enumerate().filter(|(_, marked)| *marked).map(|(row, _)| row).collect();
    count_rows(&rows, ids)
}

/// Number of rows, and the smallest of their ids.
pub fn count_rows(rows: &[usize], ids: &Int64Chunked) -> (usize, Option<i64>) {
    (rows.len(), rows.iter().filter_map(|row| ids.get(*row)).min())
}

/// `values` with nulls replaced by the values of `other`.
pub fn or_else(values: &Int64Chunked, other: &Int64Chunked) -> Int64Chunked {
    if values.null_count() == 0 {
        return values.clone();
    }
    values.iter().zip(other.iter()).map(|(value, other)| value.or(other)).collect_ca(values.name().clone())
}

/// `values` with nulls replaced by a number.
pub fn or(values: &Int64Chunked, number: i64) -> Int64Chunked {
    if values.null_count() == 0 {
        return values.clone();
    }
    Int64Chunked::from_iter_values(values.name().clone(), values.iter().map(|value| value.unwrap_or(number)))
}

/// `values` with 0 replaced by null.
pub(crate) fn zero_as_null(values: &Int64Chunked) -> Int64Chunked {
    values.iter().map(|value| value.filter(|value| *value != 0)).collect_ca(values.name().clone())
}

/// The numbers from 1.
pub(crate) fn ordinals(height: usize) -> Int64Chunked {
    Int64Chunked::from_iter_values("".into(), (1..).take(height))
}

/// A column of zeros.
pub fn zeros(height: usize) -> Int64Chunked {
    Int64Chunked::full("".into(), 0, height)
}
