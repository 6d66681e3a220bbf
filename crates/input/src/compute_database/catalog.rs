//! Workloads and kernels, which all other tables refer to.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::container::Container;
use crate::common::sqlite::{self, Columns, Condition, Selection, Store, Wanted, integer, text, type_mismatches};
use wavesieve_model::schema::anomaly::{Anomaly, Severity};

/// A row of `compute_workload`.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    pub id: i64,
    /// Folder and subfolder that were analyzed, or the rank if `convert` wrote the file.
    pub names: [Option<String>; 2],
    /// The row of `sysinfo.csv` as JSON.
    pub system: Option<String>,
    /// Measured ceilings of the roofline as JSON.
    pub ceilings: Option<String>,
    /// Whether it has the configuration of the profiler, which is not read.
    pub has_config: bool,
}

/// A row of `compute_kernel`.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub id: i64,
    /// The workload, if the row names one.
    pub workload: Option<i64>,
    pub name: Option<String>,
}

/// The workloads and kernels of a file, by id.
#[derive(Debug, Default)]
pub struct Catalog {
    pub workloads: Vec<Workload>,
    pub kernels: Vec<Kernel>,
    pub anomalies: Vec<Anomaly>,
}

impl Catalog {
    /// Reads as much of both tables as possible.
    pub fn read(store: &Store, container: &Container) -> Result<Self> {
        let mut catalog = Self::default();
        let wanted = [
            text("name"),
            text("sub_name"),
            text("sys_info_extdata"),
            text("roofline_bench_extdata"),
            text("profiling_config_extdata"),
        ];
        let rows = read_all(store, container, "workload", &wanted)?;
        catalog.note("processes", "compute_workload", &rows);
        let mut workloads: BTreeMap<i64, Workload> = BTreeMap::new();
        let ids = rows.integers("id");
        let texts = wanted.map(|wanted| rows.texts(wanted.name));
        for (row, id) in ids.iter().enumerate() {
            let Some(id) = id else { continue };
            let [name, sub_name, system, ceilings, config] =
                texts.each_ref().map(|texts| texts.get(row).map(str::to_owned));
            let has_config = config.is_some_and(|config| !matches!(config.trim(), "" | "null" | "{}"));
            let workload = Workload { id, names: [name, sub_name], system, ceilings, has_config };
            workloads.entry(id).or_insert(workload);
        }
        catalog.note_repeated("processes", "compute_workload", ids.len(), workloads.len());

        let rows = read_all(store, container, "kernel", &[integer("workload_id"), text("kernel_name")])?;
        catalog.note("kernel_symbols", "compute_kernel", &rows);
        let (ids, owners, names) = (rows.integers("id"), rows.integers("workload_id"), rows.texts("kernel_name"));
        let mut seen: BTreeSet<i64> = BTreeSet::new();
        for ((id, workload), name) in ids.iter().zip(owners.iter()).zip(names.iter()) {
            if let Some(id) = id.filter(|id| seen.insert(*id)) {
                catalog.kernels.push(Kernel { id, workload, name: name.map(str::to_owned) });
            }
        }
        catalog.note_repeated("kernel_symbols", "compute_kernel", ids.len(), seen.len());
        catalog.kernels.sort_by_key(|kernel| kernel.id);
        // Kernels may refer to a workload whose row is lost.
        for id in catalog.kernels.iter().filter_map(|kernel| kernel.workload) {
            workloads.entry(id).or_insert_with(|| Workload { id, ..Workload::default() });
        }
        catalog.workloads = workloads.into_values().collect();
        Ok(catalog)
    }

    fn note(&mut self, table_name: &str, source: &str, rows: &Columns) {
        self.anomalies.extend(type_mismatches(table_name, source, rows));
    }

    fn note_repeated(&mut self, table_name: &str, source: &str, rows: usize, distinct: usize) {
        let count = rows.saturating_sub(distinct);
        if count > 0 {
            let detail = format!("{source}: rows without an id, or with the id of an earlier row, were ignored");
            self.anomalies.push(Anomaly::new("repeated_id", Severity::Warning, table_name, count, detail));
        }
    }
}

/// All rows of a table; none if it is missing.
pub fn read_all(store: &Store, container: &Container, base: &str, wanted: &[Wanted]) -> Result<Columns> {
    let Some(table) = container.table(base) else { return Ok(Columns::default()) };
    let selection = Selection { table: &table.shape, key: table.key, condition: &Condition::all() };
    sqlite::read(store, selection, wanted, rayon::current_num_threads())
}
