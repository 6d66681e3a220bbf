//! Reads the tables of the processes of a dataset.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use parking_lot::{Mutex, MutexGuard};
use polars::prelude::{
    DataType, Expr, IntoColumn, IntoLazy, IntoSeries, LazyFrame, NULL, NewChunkedArray, StringChunked, col, lit, when,
};
use rayon::prelude::*;

use super::files::{listed_parts, notes};
use super::manifest::AnyManifest;
use super::own_files::OwnFiles;
use super::row_groups::joined;
use super::shared_files::{SharedFiles, SharedProcess};
use super::store::Store;
use super::stored::StoredProcess;
use crate::recognition::content::Content;
use crate::recognition::format::{Format, Opened, ProcessInput, Recognized};
use wavesieve_model::analysis::categories::Categories as CategoryRules;
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_model::schema::facts::ProcessFacts;
use wavesieve_model::schema::process::{Gpu, Process};
use wavesieve_model::schema::{Column as Declaration, Origin, Table, table};
use wavesieve_tables::columns::frames::{categorical, data_type, empty_frame, is_identity};
use wavesieve_tables::columns::reading::Piece;
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::derive::gpu_work::gpu_times::{GPU_SEGMENTS, GpuTime};
use wavesieve_tables::derive::health::ANOMALIES;
use wavesieve_tables::trace::source::{ProcessReader, ReadContext, RowCount, Rows, Stored};

/// Memory that a row takes while all columns of its table are read, sorted and written.
const MEMORY_BYTES_OF_ROW: u64 = 400;
/// Memory of a value and the data built from it: twice its own size.
const MEMORY_BYTES_OF_VALUE: u64 = 16;

/// Tables that are damaged.
type Damaged = BTreeMap<&'static str, Damage>;

/// The processes of a dataset. Its damage is what could not be read when it was written, and what is missing now.
///
/// # Errors
/// When the manifest cannot be read.
fn find(directory: &Path, shown: &str, categories: &CategoryRules) -> Result<Opened> {
    let manifest = AnyManifest::read(directory)?;
    let listed = listed_parts(directory, &manifest);
    let (hash, selection, lost, stores) = match manifest {
        AnyManifest::OwnFiles(manifest) => {
            let processes = manifest.processes.into_par_iter();
            let stores = processes.map(|stored| {
                let files = OwnFiles::new(directory, stored);
                let damaged = files.damaged();
                (Box::new(files) as Box<dyn Store>, damaged)
            });
            (manifest.categories_hash, manifest.selection, manifest.damage, stores.collect::<Vec<_>>())
        }
        AnyManifest::SharedFiles(manifest, processes) => {
            let files = Arc::new(SharedFiles::new(directory, &manifest, processes)?);
            let stores = SharedProcess::all(&files).map(|process| Box::new(process) as Box<dyn Store>);
            let stores = stores.zip(files.damaged()).collect();
            (manifest.categories_hash, manifest.selection, manifest.damage, stores)
        }
    };
    let notes = notes(directory, shown, &selection, &listed);
    let same_categories = hash == categories.hash();
    let now = stores.iter().flat_map(|(_, damaged)| damaged.values().cloned()).collect::<BTreeSet<Damage>>();
    let damage = lost.into_iter().chain(now).collect();
    let found = stores.into_iter().map(|(store, damaged)| {
        let stored = store.process();
        let facts =
            ProcessFacts { stored_rank: Some(stored.rank), stored_role: Some(stored.role), ..stored.facts.clone() };
        let source = DatasetSource::new(store, same_categories).without(damaged);
        ProcessInput { facts, source: Arc::new(source) }
    });
    Ok(Opened { processes: found.collect(), notes, damage })
}

/// Datasets written by `convert`.
pub struct Dataset;

impl Format for Dataset {
    fn recognize(&self, content: &mut Content) -> Option<Recognized> {
        let Content::Dataset = content else { return None };
        Some(Recognized::capture(|opening| find(opening.path, opening.shown, opening.categories)))
    }
}

/// Reads the stored tables of a process.
pub(crate) struct DatasetSource {
    store: Box<dyn Store>,
    same_categories: bool,
    /// Damage found when it was opened.
    opened_with: Damaged,
    /// State of the parts that were inspected later.
    inspected: Mutex<BTreeMap<&'static str, PartState>>,
    /// Damage found in the content of all parts.
    content: OnceLock<Vec<Damage>>,
}

/// The known state of a part.
#[derive(Clone, Debug, Default)]
struct PartState {
    damage: Option<Damage>,
    /// Columns that are unchanged since they were written.
    columns: BTreeSet<&'static str>,
}

impl DatasetSource {
    /// Reads stored tables; `same_categories` is true if the effective rules are the rules they were written with.
    pub fn new(store: Box<dyn Store>, same_categories: bool) -> Self {
        let (inspected, content) = (Mutex::default(), OnceLock::new());
        Self { store, same_categories, opened_with: BTreeMap::new(), inspected, content }
    }

    fn stored(&self) -> &StoredProcess {
        self.store.process()
    }

    /// Rows of a table, as they were written.
    fn rows(&self, table: &Table) -> u64 {
        self.stored().rows.get(table.name).copied().unwrap_or(0)
    }

    /// The same without the parts of tables that are damaged.
    fn without(self, damaged: Damaged) -> Self {
        damaged.iter().for_each(|(table, damage)| self.leave_out(table, damage.clone()));
        Self { opened_with: damaged, ..self }
    }

    /// Excludes the part of a table from reading.
    fn leave_out(&self, table: &'static str, damage: Damage) {
        self.looked_at_now().insert(table, PartState { damage: Some(damage), ..PartState::default() });
    }

    fn looked_at_now(&self) -> MutexGuard<'_, BTreeMap<&'static str, PartState>> {
        self.inspected.lock()
    }

    /// The damage found so far in the part of a table.
    fn known_damage(&self, table: &Table) -> Option<Damage> {
        self.looked_at_now().get(table.name)?.damage.clone()
    }

    /// The damage to the part of a table, checked before some columns of it are read.
    fn damage_in(&self, table: &'static Table, columns: impl Iterator<Item = &'static str>) -> Option<Damage> {
        let known = self.looked_at_now().get(table.name).cloned();
        let unknown: BTreeSet<&'static str> =
            columns.filter(|name| known.as_ref().is_none_or(|known| !known.columns.contains(name))).collect();
        if let Some(known) = known.filter(|known| known.damage.is_some() || unknown.is_empty()) {
            return known.damage;
        }
        let found = self.store.problem(table, &unknown);
        let mut inspected = self.looked_at_now();
        let inspected = inspected.entry(table.name).or_default();
        inspected.columns.extend(unknown);
        // Other threads may have inspected other columns meanwhile.
        inspected.damage = inspected.damage.take().or(found);
        inspected.damage.clone()
    }

    /// The damage to the part of a table as a whole.
    fn damage_of_part(&self, table: &'static Table) -> Option<Damage> {
        self.damage_in(table, std::iter::empty())
    }

    fn scan(&self, process: &Process, table: &'static Table, columns: &[&'static Declaration]) -> Result<LazyFrame> {
        let same_devices = devices(process) == self.stored().devices;
        let renumbers = !same_devices && columns.iter().any(|column| column.name == "device");
        let keys = ["gpu", "agent_id"].into_iter().filter(|_| renumbers).filter_map(|name| table.column(name));
        let mut read = columns.to_vec();
        read.extend(keys.filter(|key| !columns.contains(key)));
        let frame = self.store.frame(table, &read)?;
        let selection: Vec<Expr> = columns
            .iter()
            .map(|column| match column.name {
                "device" if !same_devices && table.column("gpu").is_some() => renumbered("gpu", devices(process)),
                // Rows of telemetry have an agent instead of a GPU.
                "device" if !same_devices && table.column("agent_id").is_some() => {
                    renumbered("agent_id", process.gpus.iter().map(|(agent, gpu)| (*agent, gpu.device)))
                }
                // Replays have further passes after the first.
                "pass" if process.pass != self.stored().pass => {
                    col("pass") + lit(process.pass.saturating_sub(self.stored().pass))
                }
                name => col(name).cast(data_type(column.column_type)),
            })
            .collect();
        Ok(frame.select(selection))
    }

    /// Whether a derived table exists and equals a new derivation. A deleted or damaged table is derived again.
    fn holds(&self, table: &'static Table) -> bool {
        self.stored().rows.contains_key(table.name)
            && (self.same_categories || !depends_on_categories(table))
            && self.store.is_kept(table)
            && self.damage_of_part(table).is_none()
    }

    /// Replaces the stored category by the category of the effective rules.
    fn recategorized(&self, context: &ReadContext<'_>, frame: &LazyFrame) -> Result<LazyFrame> {
        let mut frame = frame.clone().collect()?;
        let names = frame.column("kernel_name")?.cast(&DataType::String)?;
        let mut known: BTreeMap<String, String> = BTreeMap::new();
        let categories = StringChunked::from_iter_options(
            "category".into(),
            names.str()?.iter().map(|name| {
                let name = name?;
                let category = known.entry(name.to_owned()).or_insert_with(|| {
                    let base = wavesieve_model::analysis::kernel_names::base_name(name);
                    context.categories.category(&base, name).to_owned()
                });
                Some(category.clone())
            }),
        );
        frame.with_column(categories.into_series().cast(&categorical())?.into_column())?;
        Ok(frame.lazy())
    }
}

/// Whether other rules for categories may give other rows.
fn depends_on_categories(table: &Table) -> bool {
    table.name == GPU_SEGMENTS || table.origin == Origin::OnDemand
}

fn devices(process: &Process) -> BTreeMap<i64, i64> {
    process.gpus.values().map(|gpu: &Gpu| (gpu.gpu, gpu.device)).collect()
}

/// The device of rows by the values of a key.
fn renumbered(key: &str, devices: impl IntoIterator<Item = (i64, i64)>) -> Expr {
    let nothing = lit(NULL).cast(DataType::Int64);
    let chosen = |other, (value, device): (i64, i64)| when(col(key).eq(lit(value))).then(lit(device)).otherwise(other);
    devices.into_iter().fold(nothing, chosen).alias("device")
}

impl ProcessReader for DatasetSource {
    fn read(&self, context: &ReadContext<'_>, table: &'static Table, columns: &[&'static Declaration]) -> Result<Rows> {
        let categorised = table.column("kernel_name").is_some() && columns.iter().any(|c| c.name == "category");
        let names = columns.iter().map(|column| column.name);
        let read_too = (categorised && !self.same_categories).then_some("kernel_name");
        let renumbered = columns.iter().any(|column| column.name == "device").then_some(["gpu", "agent_id"]);
        let keys = renumbered.into_iter().flatten().filter(|name| table.column(name).is_some());
        if let Some(damage) = self.damage_in(table, names.chain(read_too).chain(keys)) {
            return Ok(Rows { damage: vec![damage], ..Rows::clean(empty_frame(columns).lazy()) });
        }
        if context.at_once
            && let Some(pieces) = self.pieces(context, table, columns)?
        {
            return Ok(match joined(&pieces, context.keep) {
                Ok(frame) => Rows::clean(frame.lazy()),
                Err(error) => {
                    let damage = self.store.damage_of(table, &error);
                    self.leave_out(table.name, damage.clone());
                    Rows { damage: vec![damage], ..Rows::clean(empty_frame(columns).lazy()) }
                }
            });
        }
        if self.same_categories || !categorised {
            return Ok(Rows::clean(self.scan(context.process, table, columns)?));
        }
        let mut wider: Vec<&'static Declaration> = columns.to_vec();
        if let (Some(name), false) = (table.column("kernel_name"), columns.iter().any(|c| c.name == "kernel_name")) {
            wider.push(name);
        }
        let frame = self.recategorized(context, &self.scan(context.process, table, &wider)?)?;
        Ok(Rows::clean(frame.select(columns.iter().map(|c| col(c.name)).collect::<Vec<_>>())))
    }

    fn pieces(
        &self,
        context: &ReadContext<'_>,
        table: &'static Table,
        columns: &[&'static Declaration],
    ) -> Result<Option<Vec<Box<dyn Piece>>>> {
        // A column whose stored values are replaced.
        let changed = |name: &str| match name {
            "category" => !self.same_categories,
            "device" => devices(context.process) != self.stored().devices,
            "pass" => context.process.pass != self.stored().pass,
            _ => false,
        };
        if columns.is_empty() || columns.iter().any(|column| changed(column.name)) {
            return Ok(None);
        }
        let is_missing = (table.origin.is_derived() && !self.holds(table))
            || self.damage_in(table, columns.iter().map(|column| column.name)).is_some();
        if is_missing {
            return Ok(None);
        }
        let pieces = self.store.pieces(table, columns)?;
        Ok((!pieces.is_empty()).then_some(pieces))
    }

    fn read_derived(
        &self,
        context: &ReadContext<'_>,
        table: &'static Table,
        wanted: &BTreeSet<&'static str>,
    ) -> Result<Stored> {
        if !self.holds(table) {
            let damage = if self.stored().rows.contains_key(table.name) { self.known_damage(table) } else { None };
            return Ok(Stored { frame: None, damage });
        }
        let columns: Vec<&'static Declaration> =
            table.columns.iter().filter(|column| !is_identity(column.name)).collect();
        // Anomalies are read whole because more are added to them. Without any column the number of rows would be lost.
        let is_wanted = |column: &&&'static Declaration| wanted.contains(column.name);
        let is_whole = table.name == ANOMALIES || !columns.iter().any(|column| is_wanted(&column));
        let columns: Vec<&'static Declaration> =
            columns.iter().filter(|column| is_whole || is_wanted(column)).copied().collect();
        let read = columns.iter().map(|column| column.name);
        if let Some(damage) = self.damage_in(table, read) {
            return Ok(Stored { frame: None, damage: Some(damage) });
        }
        Ok(Stored { frame: Some(self.scan(context.process, table, &columns)?), damage: None })
    }

    fn gpu_times(&self) -> Option<&[GpuTime]> {
        self.stored().gpu_times.as_deref().filter(|_| table(GPU_SEGMENTS).is_some_and(|table| self.holds(table)))
    }

    fn damage_of_content(&self) -> &[Damage] {
        self.content.get_or_init(|| {
            let tables = self.stored().rows.keys().filter_map(|name| table(name));
            let there = tables.filter(|table| !self.opened_with.contains_key(table.name) && self.store.is_kept(table));
            let damage = there.filter_map(|table| {
                let of_part = self.damage_of_part(table);
                let damage = of_part.or_else(|| self.store.problem_of_content(table))?;
                self.leave_out(table.name, damage.clone());
                Some(damage)
            });
            damage.collect()
        })
    }

    fn damage_beside_tables(&self) -> Vec<Damage> {
        self.store.damage_beside_tables().to_vec()
    }

    fn damage(&self) -> Vec<Damage> {
        let content = self.content.get().into_iter().flatten();
        self.opened_with.values().chain(content).cloned().collect()
    }

    fn count_rows(&self, _context: &ReadContext<'_>, table: &'static Table) -> Result<RowCount> {
        if let Some(damage) = self.known_damage(table) {
            return Ok(RowCount { rows: 0, damage: vec![damage] });
        }
        Ok(RowCount::whole(self.rows(table)))
    }

    fn memory_bytes(&self) -> Option<u64> {
        let rows = self.stored().rows.values().copied().fold(0, u64::saturating_add);
        Some(rows.saturating_mul(MEMORY_BYTES_OF_ROW))
    }

    fn memory_bytes_of(&self, request: &Request) -> Option<u64> {
        let values = request.iter().map(|(name, columns)| {
            let rows = self.stored().rows.get(*name).copied().unwrap_or(0);
            rows.saturating_mul(columns.len() as u64)
        });
        Some(values.fold(0, u64::saturating_add).saturating_mul(MEMORY_BYTES_OF_VALUE))
    }
}
