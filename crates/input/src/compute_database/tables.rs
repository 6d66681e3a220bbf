//! The tables of analysis databases, of every schema from 1.0 to 3.0 (`src/utils/analysis_orm.py` of rocprofiler-compute).

/// When a table is missed.
pub(super) enum Expected {
    /// In every database.
    Always,
    /// Unless any of these is there, which hold the same.
    UnlessAny(&'static [&'static str]),
    /// If any of these is there, which belong to it.
    IfAny(&'static [&'static str]),
    /// If that table has that column, which refers to it.
    IfColumn(&'static str, &'static str),
    /// Never: newer tables hold the same.
    Never,
}

/// A table, with its name without the prefix of all tables.
pub(super) struct Known {
    pub name: &'static str,
    pub key: &'static str,
    /// Other columns, of all schemas.
    pub columns: &'static [&'static str],
    pub expected: Expected,
    /// Whether rows of other tables refer to its key. Of the rest, any key will do.
    pub is_referred_to: bool,
}

const fn referred(
    name: &'static str,
    key: &'static str,
    columns: &'static [&'static str],
    expected: Expected,
) -> Known {
    Known { name, key, columns, expected, is_referred_to: true }
}

const fn counted(name: &'static str, key: &'static str, columns: &'static [&'static str], expected: Expected) -> Known {
    Known { name, key, columns, expected, is_referred_to: false }
}

/// Tables of schemas before 1.3, and what their successors are called.
pub(super) const FORMER_NAMES: [(&str, &str); 2] =
    [("metric_value", "kernel_metric_value"), ("roofline_data", "kernel_roofline_data")];

/// The table of PC samples of schema 1, which later ones have seven and more tables for.
const OLD_SAMPLES: &str = "pcsampling";
const UNLESS_OLD_SAMPLES: Expected = Expected::UnlessAny(&[OLD_SAMPLES]);
/// Tables of source lines, since schema 2.1.
const SOURCES: &[&str] = &["source_file", "source_line", "instruction_source_line"];
/// Tables of rooflines, since schema 3.0.
const ROOFLINES: &[&str] = &[
    "roofline_bandwidth_ceiling",
    "roofline_compute_ceiling",
    "kernel_roofline_point",
    "kernel_roofline_limiter",
    "kernel_roofline_metric",
];

pub(super) const TABLES: &[Known] = &[
    referred(
        "workload",
        "workload_id",
        &["name", "sub_name", "sys_info_extdata", "roofline_bench_extdata", "profiling_config_extdata"],
        Expected::Always,
    ),
    referred(
        "metric_definition",
        "metric_uuid",
        &["workload_id", "name", "metric_id", "description", "table_name", "sub_table_name", "unit"],
        Expected::Always,
    ),
    referred("kernel", "kernel_uuid", &["workload_id", "kernel_name", "short_name"], Expected::Always),
    counted(
        "dispatch",
        "dispatch_uuid",
        &["kernel_uuid", "dispatch_id", "pid", "gpu_id", "start_timestamp", "end_timestamp"],
        Expected::Always,
    ),
    counted(
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
            "kernel_rank",
            "dispatch_count",
            "total_duration_ns",
            "percent_runtime",
        ],
        Expected::Always,
    ),
    counted(
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
        Expected::UnlessAny(ROOFLINES),
    ),
    counted(
        "roofline_bandwidth_ceiling",
        "ceiling_uuid",
        &["workload_id", "device_id", "mem_level", "benchmark_column", "bandwidth"],
        Expected::IfAny(ROOFLINES),
    ),
    counted(
        "roofline_compute_ceiling",
        "ceiling_uuid",
        &["workload_id", "device_id", "benchmark_column", "datatype", "pipe", "pipe_label", "peak", "unit"],
        Expected::IfAny(ROOFLINES),
    ),
    counted(
        "kernel_roofline_point",
        "point_uuid",
        &[
            "kernel_uuid",
            "envelope",
            "mem_level",
            "arithmetic_intensity",
            "performance",
            "roof_performance",
            "percent_of_roof",
        ],
        Expected::IfAny(ROOFLINES),
    ),
    counted(
        "kernel_roofline_limiter",
        "limiter_uuid",
        &["kernel_uuid", "envelope", "limiter", "compute_ceiling", "compute_ceiling_label"],
        Expected::IfAny(ROOFLINES),
    ),
    counted(
        "kernel_roofline_metric",
        "metric_row_uuid",
        &["kernel_uuid", "table_id", "metric_id", "metric", "unit", "value", "peak", "percent_of_peak"],
        Expected::IfAny(ROOFLINES),
    ),
    counted(
        "kernel_metric_value",
        "value_uuid",
        &["metric_uuid", "kernel_uuid", "value_name", "value"],
        Expected::Always,
    ),
    counted(
        "workload_metric_value",
        "value_uuid",
        &["metric_uuid", "workload_id", "value_name", "value"],
        Expected::Always,
    ),
    referred(
        "code_object_store",
        "code_object_uuid",
        &["workload_id", "pid", "code_object_id", "load_base"],
        UNLESS_OLD_SAMPLES,
    ),
    referred(
        "kernel_symbol",
        "kernel_symbol_uuid",
        &["code_object_uuid", "kernel_uuid", "code_object_offset"],
        Expected::IfColumn("instruction_line", "kernel_symbol_uuid"),
    ),
    referred(
        "instruction_line",
        "instruction_uuid",
        &[
            "code_object_uuid",
            "kernel_uuid",
            "kernel_symbol_uuid",
            "instruction_type_uuid",
            "code_object_offset",
            "comment",
            "instruction",
        ],
        UNLESS_OLD_SAMPLES,
    ),
    referred(
        "instruction_type_lookup",
        "instruction_type_lookup_uuid",
        &["text"],
        Expected::IfColumn("instruction_line", "instruction_type_uuid"),
    ),
    referred(
        "source_file",
        "source_file_uuid",
        &["workload_id", "file_path", "md5_checksum"],
        Expected::IfAny(SOURCES),
    ),
    referred(
        "source_line",
        "source_line_uuid",
        &["source_file_uuid", "line_number", "content"],
        Expected::IfAny(SOURCES),
    ),
    counted(
        "instruction_source_line",
        "instruction_source_line_uuid",
        &["instruction_uuid", "source_line_uuid", "frame_index"],
        Expected::IfAny(SOURCES),
    ),
    referred(
        "pc_sample_state",
        "pc_sample_state_uuid",
        &[
            "instruction_uuid",
            "total_count",
            "issue_count",
            "stall_count",
            "active_thread_percent",
            "wave_occupancy_percent",
            "dispatch_uuid",
        ],
        UNLESS_OLD_SAMPLES,
    ),
    referred(
        "pc_sample_stall_reason_type",
        "pc_sample_stall_reason_type_uuid",
        &["text"],
        Expected::UnlessAny(&[OLD_SAMPLES, "pc_sample_stall_reason_lookup", "kernel_symbol"]),
    ),
    referred(
        "pc_sample_stall_reason_lookup",
        "pc_sample_stall_reason_lookup_uuid",
        &["text"],
        Expected::IfColumn("pc_sample_stall_reason", "pc_sample_stall_reason_lookup_uuid"),
    ),
    counted(
        "pc_sample_stall_reason",
        "pc_sample_stall_reason_uuid",
        &["pc_sample_state_uuid", "pc_sample_stall_reason_type_uuid", "pc_sample_stall_reason_lookup_uuid", "count"],
        UNLESS_OLD_SAMPLES,
    ),
    referred(
        "instruction_sample_type",
        "instruction_sample_type_uuid",
        &["text"],
        Expected::UnlessAny(&[OLD_SAMPLES, "instruction_sample_lookup", "kernel_symbol"]),
    ),
    referred(
        "instruction_sample_lookup",
        "instruction_sample_lookup_uuid",
        &["text"],
        Expected::IfColumn("instruction_sample", "instruction_sample_lookup_uuid"),
    ),
    counted(
        "instruction_sample",
        "instruction_sample_uuid",
        &["pc_sample_state_uuid", "instruction_sample_type_uuid", "instruction_sample_lookup_uuid", "count"],
        UNLESS_OLD_SAMPLES,
    ),
    counted(
        OLD_SAMPLES,
        "pc_sampling_uuid",
        &["kernel_uuid", "source", "instruction", "count", "offset", "count_issue", "count_stall", "stall_reason"],
        Expected::Never,
    ),
    counted("metadata", "id", &["compute_version", "git_version", "schema_version"], Expected::Always),
];
