//! Instructions that PC samples fell into, with their code objects and kernels. Since schema 2.1 an instruction belongs to a
//! kernel symbol, which refers to both; before that it refers to them itself.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::{Int64Chunked, StringChunked};

use super::owner::{OwnedBy, Owner};
use super::reading::Reading;
use super::recorded::{Metric, Recorded};
use super::source_lines;
use crate::common::sqlite::{integer, text};
use crate::common::{IdIndex, index_of};

/// An instruction of a kernel of this workload.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub metric: usize,
    pub kernel: Option<i64>,
}

/// Instructions by an id of the file; `None` for instructions of other workloads.
pub(super) type Lines = BTreeMap<i64, Option<Line>>;

/// Adds a metric for each instruction of the workload.
pub(super) fn read(reading: &mut Reading<'_>, recorded: &mut Recorded, table: &str) -> Result<Lines> {
    let objects = Objects::read(reading)?;
    let symbols = Symbols::read(reading)?;
    let types = Words::read(reading, "instruction_type_lookup")?;
    let sources = source_lines::read(reading)?;
    let numbers =
        ["code_object_uuid", "kernel_uuid", "kernel_symbol_uuid", "instruction_type_uuid", "code_object_offset"];
    let wanted: Vec<_> = numbers.map(integer).into_iter().chain(["comment", "instruction"].map(text)).collect();
    let rows = reading.read_shared("instruction_line", &wanted)?;
    let columns = numbers.map(|name| rows.integers(name));
    let (comments, instructions) = (rows.texts("comment"), rows.texts("instruction"));
    let has_processes = objects.pids_of(reading.owner).len() > 1;
    let mut lines = Lines::new();
    for (row, id) in rows.integers("id").iter().enumerate() {
        let Some(id) = id else { continue };
        let [store, kernel, symbol, instruction_type, offset] = columns.each_ref().map(|column| column.get(row));
        let (store_of_symbol, kernel_of_symbol) = symbol.map(|symbol| symbols.get(symbol)).unwrap_or_default();
        let (store, kernel) = (store.or(store_of_symbol), kernel.or(kernel_of_symbol));
        let place = store.and_then(|store| objects.index.position(store));
        if !objects.is_own(reading.owner, place, kernel) {
            lines.insert(id, None);
            continue;
        }
        let word = |number: Option<String>| number.unwrap_or_else(|| "unknown".to_owned());
        let mut object = word(place.and_then(|place| objects.ids.get(place)).map(|id| id.to_string()));
        // Ids of code objects are unique only within a process.
        if has_processes {
            let pid = word(place.and_then(|place| objects.pids.get(place)).map(|pid| pid.to_string()));
            object = format!("{pid}.{object}");
        }
        let offset = word(offset.map(|offset| format!("{offset:#x}")));
        let source = comments.get(row).map(str::to_owned).or_else(|| sources.get(&id).cloned());
        let metric = recorded.add_metric(Metric {
            id: Some(format!("pc.{object}.{offset}")),
            name: instructions.get(row).map(str::to_owned),
            table: Some(table.to_owned()),
            sub_table: source,
            description: instruction_type
                .and_then(|kind| types.get(kind))
                .map(|kind| format!("Instruction type {kind}")),
            unit: Some("samples".to_owned()),
        });
        lines.insert(id, Some(Line { metric, kernel }));
    }
    Ok(lines)
}

/// Code objects.
struct Objects {
    index: IdIndex,
    workloads: Int64Chunked,
    pids: Int64Chunked,
    ids: Int64Chunked,
}

impl Objects {
    fn read(reading: &mut Reading<'_>) -> Result<Self> {
        let wanted = ["workload_id", "pid", "code_object_id"].map(integer);
        let rows = reading.read_shared("code_object_store", &wanted)?;
        let [workloads, pids, ids] = wanted.map(|wanted| rows.integers(wanted.name));
        Ok(Self { index: index_of(&rows.integers("id")), workloads, pids, ids })
    }

    /// Whether an instruction of a code object and a kernel belongs to a workload.
    fn is_own(&self, owner: &Owner, place: Option<usize>, kernel: Option<i64>) -> bool {
        match place.and_then(|place| self.workloads.get(place)) {
            Some(workload) => owner.owns(OwnedBy::Workload, Some(workload)),
            None => owner.owns(OwnedBy::Kernel, kernel),
        }
    }

    /// Processes of a workload.
    fn pids_of(&self, owner: &Owner) -> BTreeSet<i64> {
        let rows = self.workloads.iter().zip(self.pids.iter());
        rows.filter(|(workload, _)| owner.owns(OwnedBy::Workload, *workload)).filter_map(|(_, pid)| pid).collect()
    }
}

/// Kernels in code objects.
struct Symbols {
    index: IdIndex,
    stores: Int64Chunked,
    kernels: Int64Chunked,
}

impl Symbols {
    fn read(reading: &mut Reading<'_>) -> Result<Self> {
        let wanted = ["code_object_uuid", "kernel_uuid"].map(integer);
        let rows = reading.read_shared("kernel_symbol", &wanted)?;
        let [stores, kernels] = wanted.map(|wanted| rows.integers(wanted.name));
        Ok(Self { index: index_of(&rows.integers("id")), stores, kernels })
    }

    /// The code object and kernel of a symbol.
    fn get(&self, symbol: i64) -> (Option<i64>, Option<i64>) {
        let place = self.index.position(symbol);
        (place.and_then(|place| self.stores.get(place)), place.and_then(|place| self.kernels.get(place)))
    }
}

/// A table of texts that other tables refer to by key.
pub(super) struct Words {
    index: IdIndex,
    words: StringChunked,
}

impl Words {
    /// Reads a table; a missing table has no texts.
    pub(super) fn read(reading: &mut Reading<'_>, base: &str) -> Result<Self> {
        let rows = reading.read_shared(base, &[text("text")])?;
        Ok(Self { index: index_of(&rows.integers("id")), words: rows.texts("text") })
    }

    /// The text of a key.
    pub(super) fn get(&self, key: i64) -> Option<&str> {
        self.words.get(self.index.position(key)?)
    }
}
