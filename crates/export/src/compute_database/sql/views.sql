CREATE VIEW compute_kernel_view AS
WITH timed AS (
    SELECT kernel_uuid, dispatch_id, end_timestamp - start_timestamp AS duration_ns FROM compute_dispatch
),
placed AS (
    SELECT
        kernel_uuid, duration_ns,
        ROW_NUMBER() OVER (PARTITION BY kernel_uuid ORDER BY duration_ns) AS place,
        COUNT(*) OVER (PARTITION BY kernel_uuid) AS dispatches
    FROM timed
),
middle AS (
    SELECT kernel_uuid, AVG(duration_ns) AS duration_ns_median
    FROM placed
    WHERE place IN ((dispatches + 1) / 2, (dispatches + 2) / 2)
    GROUP BY kernel_uuid
)
SELECT
    k.kernel_uuid, k.workload_id, w.name AS workload_name, k.kernel_name, k.short_name, COUNT(t.dispatch_id) AS dispatch_count,
    SUM(t.duration_ns) AS duration_ns_sum, MIN(t.duration_ns) AS duration_ns_min, MAX(t.duration_ns) AS duration_ns_max,
    m.duration_ns_median, AVG(t.duration_ns) AS duration_ns_mean
FROM timed AS t
JOIN compute_kernel AS k ON k.kernel_uuid = t.kernel_uuid
JOIN compute_workload AS w ON w.workload_id = k.workload_id
JOIN middle AS m ON m.kernel_uuid = k.kernel_uuid
GROUP BY k.kernel_uuid;

CREATE VIEW compute_kernel_metric_view AS
SELECT
    w.workload_id, w.name AS workload_name, k.kernel_uuid, k.kernel_name, d.metric_uuid, d.name AS metric_name, d.metric_id,
    d.description, d.table_name, d.sub_table_name, d.unit, v.value_uuid, v.value_name, v.value
FROM compute_kernel_metric_value AS v
JOIN compute_metric_definition AS d ON d.metric_uuid = v.metric_uuid
JOIN compute_workload AS w ON w.workload_id = d.workload_id
JOIN compute_kernel AS k ON k.kernel_uuid = v.kernel_uuid;

CREATE VIEW compute_workload_metric_view AS
SELECT
    w.workload_id, w.name AS workload_name, d.metric_uuid, d.name AS metric_name, d.metric_id, d.description, d.table_name,
    d.sub_table_name, d.unit, v.value_uuid, v.value_name, v.value
FROM compute_workload_metric_value AS v
JOIN compute_metric_definition AS d ON d.metric_uuid = v.metric_uuid
JOIN compute_workload AS w ON w.workload_id = d.workload_id;

-- One row per sampled instruction. Frames of inlined code are joined one after the other, innermost first.
CREATE VIEW compute_pc_sampling_summary_view AS
WITH RECURSIVE reasons AS (
    SELECT r.pc_sample_state_uuid, JSON_GROUP_OBJECT(t.text, r.count) AS stall_reason
    FROM compute_pc_sample_stall_reason AS r
    JOIN compute_pc_sample_stall_reason_lookup AS t
        ON t.pc_sample_stall_reason_lookup_uuid = r.pc_sample_stall_reason_lookup_uuid
    GROUP BY r.pc_sample_state_uuid
),
frames AS (
    SELECT i.instruction_uuid, i.frame_index, f.file_path || ':' || COALESCE(CAST(l.line_number AS TEXT), '?') AS frame
    FROM compute_instruction_source_line AS i
    JOIN compute_source_line AS l ON l.source_line_uuid = i.source_line_uuid
    JOIN compute_source_file AS f ON f.source_file_uuid = l.source_file_uuid
),
chains AS (
    SELECT instruction_uuid, frame_index, frame AS source FROM frames WHERE frame_index = 0
    UNION ALL
    SELECT f.instruction_uuid, f.frame_index, c.source || ' -> ' || f.frame
    FROM chains AS c
    JOIN frames AS f ON f.instruction_uuid = c.instruction_uuid AND f.frame_index = c.frame_index + 1
),
sources AS (
    SELECT instruction_uuid, source
    FROM chains AS c
    WHERE frame_index = (SELECT MAX(frame_index) FROM compute_instruction_source_line AS i WHERE i.instruction_uuid = c.instruction_uuid)
)
SELECT
    o.workload_id, o.pid, o.code_object_id, k.kernel_uuid, k.kernel_name, l.code_object_offset AS offset, l.instruction,
    t.text AS instruction_type, c.source, s.total_count AS count, s.issue_count, s.stall_count, s.wave_occupancy_percent,
    s.active_thread_percent, r.stall_reason
FROM compute_pc_sample_state AS s
JOIN compute_instruction_line AS l ON l.instruction_uuid = s.instruction_uuid
JOIN compute_kernel_symbol AS y ON y.kernel_symbol_uuid = l.kernel_symbol_uuid
JOIN compute_code_object_store AS o ON o.code_object_uuid = y.code_object_uuid
LEFT JOIN compute_kernel AS k ON k.kernel_uuid = y.kernel_uuid
LEFT JOIN compute_instruction_type_lookup AS t ON t.instruction_type_lookup_uuid = l.instruction_type_uuid
LEFT JOIN reasons AS r ON r.pc_sample_state_uuid = s.pc_sample_state_uuid
LEFT JOIN sources AS c ON c.instruction_uuid = l.instruction_uuid;

-- The view and columns that rocprofiler-compute wrote before its release 3.9.
CREATE VIEW compute_pc_sampling_view AS
SELECT
    workload_id, kernel_uuid, kernel_name, offset, instruction, source, count, issue_count AS count_issue,
    stall_count AS count_stall, stall_reason
FROM compute_pc_sampling_summary_view;

CREATE VIEW compute_source_lines_view AS
SELECT f.workload_id, f.file_path, f.md5_checksum, l.line_number, l.content
FROM compute_source_line AS l
JOIN compute_source_file AS f ON f.source_file_uuid = l.source_file_uuid;
