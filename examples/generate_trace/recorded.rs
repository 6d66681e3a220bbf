//! The recorded activities as canonical tables; what describes the process comes from another source.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use polars::prelude::*;
use wavesieve::internal::columns::{dictionary_column, null_column, own_columns, text_column_from_dictionary};
use wavesieve::internal::schema::{Column as Declaration, Gpu, Table, Validity, domain_of_category, table};
use wavesieve::internal::trace::{ProcessReader, ReadContext, RowCount, Rows};

use crate::model::{KernelTemplate, Setup, domain};
use crate::recorder::Recorder;

/// A value that all dispatches of a kernel share.
type OfKernel = fn(&KernelTemplate) -> i64;

/// Internal id 0 stands for none.
fn known(correlation_id: i64) -> Option<i64> {
    Some(correlation_id).filter(|id| *id != 0)
}

/// One process.
pub struct Recorded {
    described: Arc<dyn ProcessReader>,
    templates: BTreeMap<i64, &'static KernelTemplate>,
    activities: Recorder,
}

impl Recorded {
    /// Takes the activities of a process, and the source of everything else.
    pub fn new(described: Arc<dyn ProcessReader>, setup: &Setup, activities: Recorder) -> Self {
        let templates = setup.symbols.iter().map(|symbol| (symbol.id, symbol.template)).collect();
        Self { described, templates, activities }
    }

    fn kernels(&self, context: &ReadContext<'_>, columns: &mut Columns<'_>) -> Result<()> {
        let symbols = table("kernel_symbols").context("no table of symbols")?;
        let symbols = self.described.read(context, symbols, &own_columns(symbols))?.frame.collect()?;
        let rows = &self.activities.dispatches;
        let places: BTreeMap<i64, usize> =
            symbols.column("kernel_id")?.i64()?.iter().enumerate().filter_map(|(at, id)| Some((id?, at))).collect();
        // A table by kernel id is faster to look up in than the tree.
        let ids = || rows.iter().map(|row| i64::from(row.kernel_id));
        let last = usize::try_from(places.keys().next_back().copied().unwrap_or(0))?;
        let place_of: Vec<Option<usize>> = (0..=last).map(|id| places.get(&(id as i64)).copied()).collect();
        let template_of: Vec<Option<&KernelTemplate>> =
            (0..=last).map(|id| self.templates.get(&(id as i64)).copied()).collect();
        columns.integers("dispatch_id", (1..).take(rows.len()));
        columns.integers("kernel_id", ids());
        for name in ["kernel_name", "short_name", "category"] {
            let texts = symbols.column(name)?.cast(&DataType::String)?;
            let texts: Vec<Option<String>> = texts.str()?.iter().map(|text| text.map(str::to_owned)).collect();
            let codes = rows.iter().map(|row| place_of.get(row.kernel_id as usize).copied().flatten());
            columns.words(name, &texts, codes)?;
        }
        columns.integers("agent_id", rows.iter().map(|row| i64::from(row.agent_id)));
        columns.gpus(rows.iter().map(|row| Some(i64::from(row.agent_id))));
        columns.integers("queue_id", rows.iter().map(|row| i64::from(row.queue_id)));
        columns.integers("stream_id", rows.iter().map(|row| i64::from(row.stream_id)));
        columns.integers("tid", rows.iter().map(|row| row.thread_id));
        columns.optional("correlation_id", rows.iter().map(|row| known(row.correlation_id)));
        columns.times(rows.iter().map(|row| (row.start_ns, row.end_ns)));
        let constants: [(&str, OfKernel); 8] = [
            ("workgroup_x", |kernel| i64::from(kernel.workgroup[0])),
            ("workgroup_y", |kernel| i64::from(kernel.workgroup[1])),
            ("workgroup_z", |kernel| i64::from(kernel.workgroup[2])),
            ("grid_x", |kernel| i64::from(kernel.grid()[0])),
            ("grid_y", |kernel| i64::from(kernel.grid()[1])),
            ("grid_z", |kernel| i64::from(kernel.grid()[2])),
            ("lds_bytes", |kernel| kernel.lds_bytes),
            ("scratch_bytes", |kernel| kernel.scratch_bytes),
        ];
        for (name, value) in constants {
            let values: Vec<i64> = template_of.iter().map(|kernel| kernel.map_or(0, value)).collect();
            columns.integers(name, rows.iter().map(|row| values.get(row.kernel_id as usize).copied().unwrap_or(0)));
        }
        Ok(())
    }

    fn regions(&self, columns: &mut Columns<'_>) -> Result<()> {
        let (rows, words) = (&self.activities.regions, &self.activities.words);
        let domains: Vec<Option<String>> = words.iter().map(|word| word.as_deref().map(domain_of_category)).collect();
        columns.integers("region_id", rows.iter().map(|row| row.id));
        columns.words("domain", &domains, rows.iter().map(|row| Some(row.category as usize)))?;
        columns.words("category", words, rows.iter().map(|row| Some(row.category as usize)))?;
        columns.words("name", words, rows.iter().map(|row| Some(row.name as usize)))?;
        columns.texts("message", words, rows.iter().map(|row| row.message.map(|at| at as usize)))?;
        columns.integers("tid", rows.iter().map(|row| row.thread_id));
        columns.optional("correlation_id", rows.iter().map(|row| known(row.id)));
        columns.optional("parent_correlation_id", rows.iter().map(|row| known(row.parent_id)));
        columns.times(rows.iter().map(|row| (row.start_ns, row.end_ns)));
        Ok(())
    }

    fn arguments(&self, columns: &mut Columns<'_>) -> Result<()> {
        let (rows, words) = (&self.activities.arguments, &self.activities.words);
        columns.words("owner", &[Some("region".to_owned())], rows.iter().map(|_| Some(0)))?;
        columns.integers("owner_id", rows.iter().map(|row| row.region_id));
        columns.integers("position", rows.iter().map(|row| i64::from(row.position)));
        columns.texts("type", words, rows.iter().map(|row| Some(row.type_name as usize)))?;
        columns.words("name", words, rows.iter().map(|row| Some(row.name as usize)))?;
        columns.texts("value", words, rows.iter().map(|row| Some(row.value as usize)))
    }

    fn copies(&self, columns: &mut Columns<'_>) -> Result<()> {
        let rows = &self.activities.copies;
        let process = columns.context.process;
        let gpu = |agent: i64| process.gpus.get(&agent).copied();
        let peers = |source: i64, target: i64| -> (Option<Gpu>, Option<Gpu>) {
            match (gpu(source), gpu(target)) {
                (Some(source), Some(target)) if source != target => (Some(source), Some(target)),
                (source, target) => (source.or(target), None),
            }
        };
        let directions: Vec<Option<String>> =
            ["H2H", "H2D", "D2H", "D2D", "P2P"].map(|word| Some(word.to_owned())).to_vec();
        let direction = |source: i64, target: i64| match (gpu(source), gpu(target)) {
            (None, None) => 0,
            (None, Some(_)) => 1,
            (Some(_), None) => 2,
            (Some(source), Some(target)) => 3 + usize::from(source != target),
        };
        let agents = || rows.iter().map(|row| (row.source_agent_id, row.target_agent_id));
        columns.integers("copy_id", rows.iter().map(|row| row.id));
        columns.words("direction", &directions, agents().map(|(source, target)| Some(direction(source, target))))?;
        columns.integers("src_agent_id", rows.iter().map(|row| row.source_agent_id));
        columns.integers("dst_agent_id", rows.iter().map(|row| row.target_agent_id));
        columns.optional("gpu", agents().map(|(source, target)| peers(source, target).0.map(|gpu| gpu.gpu)));
        columns.optional("peer_gpu", agents().map(|(source, target)| peers(source, target).1.map(|gpu| gpu.gpu)));
        columns.optional("device", agents().map(|(source, target)| peers(source, target).0.map(|gpu| gpu.device)));
        columns.integers("bytes", rows.iter().map(|row| row.bytes));
        columns.integers("stream_id", rows.iter().map(|row| row.stream_id));
        columns.integers("tid", rows.iter().map(|row| row.thread_id));
        columns.optional("correlation_id", rows.iter().map(|row| known(row.correlation_id)));
        columns.times(rows.iter().map(|row| (row.start_ns as i64, row.end_ns as i64)));
        Ok(())
    }

    fn allocations(&self, columns: &mut Columns<'_>) -> Result<()> {
        let rows = &self.activities.allocations;
        let words: Vec<Option<String>> =
            ["ALLOC", "FREE", "REAL", "SCRATCH"].map(|word| Some(word.to_owned())).to_vec();
        let code = |word: &str| words.iter().position(|known| known.as_deref() == Some(word));
        columns.integers("alloc_id", rows.iter().map(|row| row.id));
        columns.words("operation", &words, rows.iter().map(|row| code(row.operation)))?;
        columns.words("level", &words, rows.iter().map(|row| code(row.level)))?;
        columns.optional("agent_id", rows.iter().map(|row| row.agent_id));
        columns.gpus(rows.iter().map(|row| row.agent_id));
        columns.integers("address", rows.iter().map(|row| row.address));
        columns.integers("bytes", rows.iter().map(|row| row.bytes));
        columns.optional("flags", rows.iter().map(|row| row.flags));
        columns.optional("queue_id", rows.iter().map(|row| row.queue_id));
        columns.integers("stream_id", rows.iter().map(|_| 0));
        columns.integers("tid", rows.iter().map(|row| row.thread_id));
        columns.optional("correlation_id", rows.iter().map(|row| known(row.correlation_id)));
        columns.times(rows.iter().map(|row| (row.start_ns as i64, row.end_ns as i64)));
        Ok(())
    }

    fn marks(&self, columns: &mut Columns<'_>) -> Result<()> {
        let rows = &self.activities.marks;
        let category = [Some(domain::MARKER.to_owned())];
        let messages: Vec<Option<String>> = rows.iter().map(|row| Some(row.message.clone())).collect();
        columns.integers("mark_id", rows.iter().map(|row| row.id));
        columns.words("domain", &[Some(domain_of_category(domain::MARKER))], rows.iter().map(|_| Some(0)))?;
        // rocpd 3 keeps the name of the track alone, which is that of the category.
        columns.words("category", &category, rows.iter().map(|_| Some(0)))?;
        columns.words("name", &category, rows.iter().map(|_| Some(0)))?;
        columns.texts("message", &messages, (0..rows.len()).map(Some))?;
        columns.integers("tid", rows.iter().map(|row| row.thread_id));
        columns.optional("correlation_id", rows.iter().map(|row| known(row.correlation_id)));
        columns.integers("time_ns", rows.iter().map(|row| row.time_ns as i64));
        Ok(())
    }
}

impl ProcessReader for Recorded {
    fn read(&self, context: &ReadContext<'_>, table: &'static Table, wanted: &[&'static Declaration]) -> Result<Rows> {
        let mut columns = Columns { context, wanted, made: BTreeMap::new() };
        match table.name {
            "kernels" => self.kernels(context, &mut columns)?,
            "memory_copies" => self.copies(&mut columns)?,
            "memory_allocations" => self.allocations(&mut columns)?,
            "regions" => self.regions(&mut columns)?,
            "marks" => self.marks(&mut columns)?,
            "args" => self.arguments(&mut columns)?,
            _ => return self.described.read(context, table, wanted),
        }
        let rows = self.count_rows(context, table)?.rows;
        Ok(Rows::clean(columns.finish(usize::try_from(rows)?)?.lazy()))
    }

    fn count_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> Result<RowCount> {
        let rows = match table.name {
            "kernels" => self.activities.dispatches.len(),
            "memory_copies" => self.activities.copies.len(),
            "memory_allocations" => self.activities.allocations.len(),
            "regions" => self.activities.regions.len(),
            "marks" => self.activities.marks.len(),
            "args" => self.activities.arguments.len(),
            _ => return self.described.count_rows(context, table),
        };
        Ok(RowCount::whole(rows as u64))
    }
}

/// The wanted columns of a table, with those that are made so far.
struct Columns<'a> {
    context: &'a ReadContext<'a>,
    wanted: &'a [&'static Declaration],
    made: BTreeMap<&'static str, Column>,
}

impl Columns<'_> {
    fn wants(&self, name: &str) -> bool {
        self.wanted.iter().any(|column| column.name == name)
    }

    fn integers(&mut self, name: &'static str, values: impl Iterator<Item = i64>) {
        if self.wants(name) {
            let column = Int64Chunked::from_vec(name.into(), values.collect());
            self.made.insert(name, column.into_column());
        }
    }

    fn optional(&mut self, name: &'static str, values: impl Iterator<Item = Option<i64>>) {
        if self.wants(name) {
            let column: Int64Chunked = values.collect_ca(name.into());
            self.made.insert(name, column.into_column());
        }
    }

    fn words(
        &mut self,
        name: &'static str,
        dictionary: &[Option<String>],
        codes: impl Iterator<Item = Option<usize>>,
    ) -> Result<()> {
        if self.wants(name) {
            self.made.insert(name, dictionary_column(name, dictionary, codes)?);
        }
        Ok(())
    }

    fn texts(
        &mut self,
        name: &'static str,
        dictionary: &[Option<String>],
        codes: impl Iterator<Item = Option<usize>>,
    ) -> Result<()> {
        if self.wants(name) {
            self.made.insert(name, text_column_from_dictionary(name, dictionary, codes)?);
        }
        Ok(())
    }

    fn gpus(&mut self, agents: impl Iterator<Item = Option<i64>> + Clone) {
        let process = self.context.process;
        let gpus = agents.map(|agent| agent.and_then(|agent| process.gpus.get(&agent)));
        self.optional("gpu", gpus.clone().map(|gpu| gpu.map(|gpu| gpu.gpu)));
        self.optional("device", gpus.map(|gpu| gpu.map(|gpu| gpu.device)));
    }

    fn times(&mut self, times: impl Iterator<Item = (i64, i64)> + Clone) {
        let validity = Validity::from_facts(&self.context.process.facts);
        self.integers("start_ns", times.clone().map(|(start, _)| start));
        self.integers("end_ns", times.clone().map(|(_, end)| end));
        self.integers("duration_ns", times.clone().map(|(start, end)| end - start));
        if self.wants("valid") {
            let valid = times.map(|(start, end)| validity.holds(start, end));
            let column = BooleanChunked::from_iter_values("valid".into(), valid);
            self.made.insert("valid", column.into_column());
        }
    }

    fn finish(mut self, height: usize) -> Result<DataFrame> {
        let columns = self
            .wanted
            .iter()
            .map(|declaration| self.made.remove(declaration.name).unwrap_or_else(|| null_column(declaration, height)))
            .collect();
        Ok(DataFrame::new(height, columns)?)
    }
}
