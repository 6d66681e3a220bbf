CREATE TABLE compute_workload (
    workload_id INTEGER NOT NULL PRIMARY KEY, name VARCHAR, sub_name VARCHAR, sys_info_extdata JSON,
    roofline_bench_extdata JSON, profiling_config_extdata JSON
);
CREATE TABLE compute_metric_definition (
    metric_uuid INTEGER NOT NULL PRIMARY KEY, workload_id INTEGER NOT NULL REFERENCES compute_workload (workload_id),
    name VARCHAR, metric_id VARCHAR, description TEXT, table_name VARCHAR, sub_table_name VARCHAR, unit VARCHAR,
    UNIQUE (workload_id, metric_id)
);
CREATE TABLE compute_kernel (
    kernel_uuid INTEGER NOT NULL PRIMARY KEY, workload_id INTEGER NOT NULL REFERENCES compute_workload (workload_id),
    kernel_name VARCHAR, short_name VARCHAR, UNIQUE (workload_id, kernel_name)
);
CREATE TABLE compute_dispatch (
    dispatch_uuid INTEGER NOT NULL PRIMARY KEY, kernel_uuid INTEGER NOT NULL REFERENCES compute_kernel (kernel_uuid),
    dispatch_id INTEGER, gpu_id INTEGER, start_timestamp INTEGER, end_timestamp INTEGER,
    UNIQUE (kernel_uuid, dispatch_id)
);
CREATE TABLE compute_kernel_roofline_data (
    roofline_uuid INTEGER NOT NULL PRIMARY KEY,
    kernel_uuid INTEGER NOT NULL UNIQUE REFERENCES compute_kernel (kernel_uuid), total_flops FLOAT, l0_cache_data FLOAT,
    l1_cache_data FLOAT, l2_cache_data FLOAT, hbm_cache_data FLOAT, lds_cache_data FLOAT
);
CREATE TABLE compute_workload_roofline_data (
    roofline_uuid INTEGER NOT NULL PRIMARY KEY,
    workload_id INTEGER NOT NULL UNIQUE REFERENCES compute_workload (workload_id), total_flops FLOAT,
    l0_cache_data FLOAT, l1_cache_data FLOAT, l2_cache_data FLOAT, hbm_cache_data FLOAT, lds_cache_data FLOAT
);
CREATE TABLE compute_kernel_metric_value (
    value_uuid INTEGER NOT NULL PRIMARY KEY,
    metric_uuid INTEGER NOT NULL REFERENCES compute_metric_definition (metric_uuid),
    kernel_uuid INTEGER NOT NULL REFERENCES compute_kernel (kernel_uuid), value_name VARCHAR, value FLOAT,
    UNIQUE (kernel_uuid, metric_uuid, value_name)
);
CREATE TABLE compute_workload_metric_value (
    value_uuid INTEGER NOT NULL PRIMARY KEY,
    metric_uuid INTEGER NOT NULL REFERENCES compute_metric_definition (metric_uuid),
    workload_id INTEGER NOT NULL REFERENCES compute_workload (workload_id), value_name VARCHAR, value FLOAT,
    UNIQUE (workload_id, metric_uuid, value_name)
);
CREATE TABLE compute_code_object_store (
    code_object_uuid INTEGER NOT NULL PRIMARY KEY, workload_id INTEGER NOT NULL REFERENCES compute_workload (workload_id),
    pid INTEGER, code_object_id INTEGER, load_base INTEGER, UNIQUE (workload_id, pid, code_object_id)
);
CREATE TABLE compute_kernel_symbol (
    kernel_symbol_uuid INTEGER NOT NULL PRIMARY KEY,
    code_object_uuid INTEGER NOT NULL REFERENCES compute_code_object_store (code_object_uuid),
    -- Null for samples of unknown kernels, which rocprofiler-compute leaves out.
    kernel_uuid INTEGER REFERENCES compute_kernel (kernel_uuid), code_object_offset INTEGER,
    UNIQUE (code_object_uuid, kernel_uuid), UNIQUE (code_object_uuid, code_object_offset)
);
CREATE TABLE compute_instruction_type_lookup (
    instruction_type_lookup_uuid INTEGER NOT NULL PRIMARY KEY, text VARCHAR UNIQUE
);
CREATE TABLE compute_instruction_line (
    instruction_uuid INTEGER NOT NULL PRIMARY KEY,
    kernel_symbol_uuid INTEGER NOT NULL REFERENCES compute_kernel_symbol (kernel_symbol_uuid),
    instruction_type_uuid INTEGER REFERENCES compute_instruction_type_lookup (instruction_type_lookup_uuid),
    code_object_offset INTEGER, instruction TEXT, UNIQUE (kernel_symbol_uuid, code_object_offset)
);
CREATE TABLE compute_source_file (
    source_file_uuid INTEGER NOT NULL PRIMARY KEY, workload_id INTEGER NOT NULL REFERENCES compute_workload (workload_id),
    file_path TEXT, md5_checksum VARCHAR, UNIQUE (workload_id, file_path)
);
CREATE TABLE compute_source_line (
    source_line_uuid INTEGER NOT NULL PRIMARY KEY,
    source_file_uuid INTEGER NOT NULL REFERENCES compute_source_file (source_file_uuid), line_number INTEGER, content TEXT,
    UNIQUE (source_file_uuid, line_number)
);
CREATE TABLE compute_instruction_source_line (
    instruction_source_line_uuid INTEGER NOT NULL PRIMARY KEY,
    instruction_uuid INTEGER NOT NULL REFERENCES compute_instruction_line (instruction_uuid),
    source_line_uuid INTEGER NOT NULL REFERENCES compute_source_line (source_line_uuid), frame_index INTEGER,
    UNIQUE (instruction_uuid, frame_index)
);
CREATE TABLE compute_pc_sample_state (
    pc_sample_state_uuid INTEGER NOT NULL PRIMARY KEY,
    instruction_uuid INTEGER NOT NULL REFERENCES compute_instruction_line (instruction_uuid), total_count INTEGER,
    issue_count INTEGER, stall_count INTEGER, active_thread_percent FLOAT, wave_occupancy_percent FLOAT,
    dispatch_uuid INTEGER REFERENCES compute_dispatch (dispatch_uuid)
);
CREATE TABLE compute_pc_sample_stall_reason_lookup (
    pc_sample_stall_reason_lookup_uuid INTEGER NOT NULL PRIMARY KEY, text VARCHAR UNIQUE
);
CREATE TABLE compute_pc_sample_stall_reason (
    pc_sample_stall_reason_uuid INTEGER NOT NULL PRIMARY KEY,
    pc_sample_state_uuid INTEGER NOT NULL REFERENCES compute_pc_sample_state (pc_sample_state_uuid),
    pc_sample_stall_reason_lookup_uuid INTEGER NOT NULL
        REFERENCES compute_pc_sample_stall_reason_lookup (pc_sample_stall_reason_lookup_uuid),
    count INTEGER
);
CREATE TABLE compute_instruction_sample_lookup (
    instruction_sample_lookup_uuid INTEGER NOT NULL PRIMARY KEY, text VARCHAR UNIQUE
);
CREATE TABLE compute_instruction_sample (
    instruction_sample_uuid INTEGER NOT NULL PRIMARY KEY,
    pc_sample_state_uuid INTEGER NOT NULL REFERENCES compute_pc_sample_state (pc_sample_state_uuid),
    instruction_sample_lookup_uuid INTEGER NOT NULL
        REFERENCES compute_instruction_sample_lookup (instruction_sample_lookup_uuid),
    count INTEGER
);
CREATE TABLE compute_metadata (
    id INTEGER NOT NULL PRIMARY KEY, compute_version VARCHAR, git_version VARCHAR, schema_version VARCHAR
);
