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
    k.kernel_uuid, k.workload_id, w.name AS workload_name, k.kernel_name, COUNT(t.dispatch_id) AS dispatch_count,
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

CREATE VIEW compute_pc_sampling_view AS
WITH reasons AS (
    SELECT r.pc_sample_state_uuid, JSON_GROUP_OBJECT(t.text, r.count) AS stall_reason
    FROM compute_pc_sample_stall_reason AS r
    JOIN compute_pc_sample_stall_reason_type AS t
        ON t.pc_sample_stall_reason_type_uuid = r.pc_sample_stall_reason_type_uuid
    GROUP BY r.pc_sample_state_uuid
)
SELECT
    o.workload_id, k.kernel_uuid, k.kernel_name, l.code_object_offset AS offset, l.instruction, l.comment AS source,
    s.total_count AS count, s.issue_count AS count_issue, s.stall_count AS count_stall, r.stall_reason
FROM compute_pc_sample_state AS s
JOIN compute_instruction_line AS l ON l.instruction_uuid = s.instruction_uuid
JOIN compute_code_object_store AS o ON o.code_object_uuid = l.code_object_uuid
LEFT JOIN compute_kernel AS k ON k.kernel_uuid = l.kernel_uuid
LEFT JOIN reasons AS r ON r.pc_sample_state_uuid = s.pc_sample_state_uuid;
