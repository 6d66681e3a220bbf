//! Which tables and columns a database really has.

use std::collections::BTreeMap;

use anyhow::Result;
use rusqlite::Connection;

use crate::input::common::sqlite::{TableShape, declarations, shape};

/// What the names of all tables begin with.
pub(crate) const PREFIX: &str = "compute_";

/// Tables of schemas 2.0.0 and 1.3 without [`PREFIX`], with their keys and other columns.
const TABLES: &[(&str, &str, &[&str])] = &[
    (
        "workload",
        "workload_id",
        &["name", "sub_name", "sys_info_extdata", "roofline_bench_extdata", "profiling_config_extdata"],
    ),
    (
        "metric_definition",
        "metric_uuid",
        &["workload_id", "name", "metric_id", "description", "table_name", "sub_table_name", "unit"],
    ),
    ("kernel", "kernel_uuid", &["workload_id", "kernel_name"]),
    ("dispatch", "dispatch_uuid", &["kernel_uuid", "dispatch_id", "gpu_id", "start_timestamp", "end_timestamp"]),
    (
        "kernel_roofline_data",
        "roofline_uuid",
        &[
            "kernel_uuid",
            "total_flops",
            "l0_cache_data",
            "l1_cache_data",
            "l2_cache_data",
            "hbm_cache_data",
            "lds_cache_data",
        ],
    ),
    (
        "workload_roofline_data",
        "roofline_uuid",
        &[
            "workload_id",
            "total_flops",
            "l0_cache_data",
            "l1_cache_data",
            "l2_cache_data",
            "hbm_cache_data",
            "lds_cache_data",
        ],
    ),
    ("kernel_metric_value", "value_uuid", &["metric_uuid", "kernel_uuid", "value_name", "value"]),
    ("workload_metric_value", "value_uuid", &["metric_uuid", "workload_id", "value_name", "value"]),
    ("code_object_store", "code_object_uuid", &["workload_id", "pid", "code_object_id", "load_base"]),
    (
        "instruction_line",
        "instruction_uuid",
        &["code_object_uuid", "kernel_uuid", "code_object_offset", "comment", "instruction"],
    ),
    ("pc_sample_state", "pc_sample_state_uuid", &["instruction_uuid", "total_count", "issue_count", "stall_count"]),
    ("pc_sample_stall_reason_type", "pc_sample_stall_reason_type_uuid", &["text"]),
    (
        "pc_sample_stall_reason",
        "pc_sample_stall_reason_uuid",
        &["pc_sample_state_uuid", "pc_sample_stall_reason_type_uuid", "count"],
    ),
    ("instruction_sample_type", "instruction_sample_type_uuid", &["text"]),
    (
        "instruction_sample",
        "instruction_sample_uuid",
        &["pc_sample_state_uuid", "instruction_sample_type_uuid", "count"],
    ),
    (
        OLD_SAMPLES,
        "pc_sampling_uuid",
        &["kernel_uuid", "source", "instruction", "count", "offset", "count_issue", "count_stall", "stall_reason"],
    ),
    ("metadata", "id", &["compute_version", "git_version", "schema_version"]),
];

/// The table of PC samples of schema 1.3, and those that schema 2 has for them.
const OLD_SAMPLES: &str = "pcsampling";
const SAMPLES: [&str; 7] = [
    "code_object_store",
    "instruction_line",
    "pc_sample_state",
    "pc_sample_stall_reason_type",
    "pc_sample_stall_reason",
    "instruction_sample_type",
    "instruction_sample",
];

/// Tables to whose keys nothing refers, so that any key will do.
const COUNTED: [&str; 8] = [
    OLD_SAMPLES,
    "dispatch",
    "kernel_roofline_data",
    "workload_roofline_data",
    "kernel_metric_value",
    "workload_metric_value",
    "pc_sample_stall_reason",
    "instruction_sample",
];

/// A table that is there.
#[derive(Clone, Debug)]
pub(crate) struct KnownTable {
    /// Its columns.
    pub shape: TableShape,
    /// Its key, or the row id if it lacks that or nothing refers to it.
    pub key: &'static str,
}

/// The tables of a database.
#[derive(Clone, Debug, Default)]
pub(crate) struct Container {
    /// Names of unknown tables.
    pub unknown_tables: Vec<String>,
    /// Unknown columns of known tables, as `table.column`.
    pub unknown_columns: Vec<String>,
    /// Names of known tables that are missing.
    pub missing_tables: Vec<String>,
    tables: BTreeMap<&'static str, KnownTable>,
}

impl Container {
    /// Lists the tables.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub(crate) fn read(connection: &Connection) -> Result<Self> {
        let mut container = Self::default();
        for (name, sql) in declarations(connection)? {
            let base = name.strip_prefix(PREFIX);
            let known = base.and_then(|base| TABLES.iter().find(|(known, ..)| *known == base));
            match known {
                Some((base, key, columns)) => {
                    let shape = shape(connection, &name)?;
                    let is_known = |column: &str| column == *key || columns.contains(&column);
                    let unknown = shape.columns.keys().filter(|column| !is_known(column));
                    container.unknown_columns.extend(unknown.map(|column| format!("{name}.{column}")));
                    let is_counted = COUNTED.contains(base) && !sql.to_uppercase().contains("WITHOUT ROWID");
                    let key = if shape.has(key) && !is_counted { key } else { "rowid" };
                    container.tables.insert(base, KnownTable { shape, key });
                }
                None if name.starts_with("sqlite_") => {}
                None => container.unknown_tables.push(name),
            }
        }
        let is_old = container.tables.contains_key(OLD_SAMPLES);
        let is_expected = |base: &str| if is_old { !SAMPLES.contains(&base) } else { base != OLD_SAMPLES };
        let missing = TABLES.iter().filter(|(base, ..)| is_expected(base) && !container.tables.contains_key(base));
        container.missing_tables = missing.map(|(base, ..)| format!("{PREFIX}{base}")).collect();
        Ok(container)
    }

    /// The table of a name without [`PREFIX`], if there is one.
    pub(crate) fn table(&self, base: &str) -> Option<&KnownTable> {
        self.tables.get(base)
    }

    /// All tables that are known.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &KnownTable> {
        self.tables.values()
    }
}
