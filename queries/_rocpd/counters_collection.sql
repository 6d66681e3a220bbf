-- Counters of dispatches, the sums of their instances.
SELECT c.dispatch_id AS id, p.guid AS guid, c.dispatch_id AS dispatch_id, d.kernel_id AS kernel_id, c.dispatch_id * 4 AS event_id,
    d.external_id AS correlation_id, d.correlation_id AS stack_id, d.correlation_id AS parent_stack_id, p.pid AS pid, d.tid AS tid,
    d.agent_id AS agent_id, d.agent_id AS agent_abs_index, CAST(NULL AS BIGINT) AS agent_log_index, d.gpu AS agent_type_index,
    'GPU' AS agent_type, d.queue_id AS queue_id, d.grid_x AS grid_size_x, d.grid_y AS grid_size_y, d.grid_z AS grid_size_z,
    d.grid_x * d.grid_y * d.grid_z AS grid_size, d.kernel_name AS kernel_name, d.region_name AS kernel_region,
    d.workgroup_x AS workgroup_size_x, d.workgroup_y AS workgroup_size_y, d.workgroup_z AS workgroup_size_z,
    d.workgroup_x * d.workgroup_y * d.workgroup_z AS workgroup_size, d.lds_bytes AS lds_block_size, d.scratch_bytes AS scratch_size,
    s.vgpr AS vgpr_count, s.accum_vgpr AS accum_vgpr_count, s.sgpr AS sgpr_count, c.counter AS counter_name,
    c.counter AS counter_symbol, CAST(NULL AS VARCHAR) AS component, CAST(NULL AS VARCHAR) AS description,
    CAST(NULL AS VARCHAR) AS block, CAST(NULL AS VARCHAR) AS expression, CAST(NULL AS VARCHAR) AS value_type,
    c.counter AS counter_id, c.value AS value, d.start_ns AS start, d.end_ns AS "end", CAST(NULL AS BIGINT) AS is_constant,
    CAST(NULL AS BIGINT) AS is_derived, d.end_ns - d.start_ns AS duration, 'KERNEL_DISPATCH' AS category, p.node AS nid,
    CAST(NULL AS VARCHAR) AS extdata, s.code_object_id AS code_object_id
FROM counters AS c
JOIN counter_dispatches AS d ON d.process = c.process AND d.pass = c.pass AND d.dispatch_id = c.dispatch_id
JOIN processes AS p ON p.process = c.process
LEFT JOIN kernel_symbols AS s ON s.process = c.process AND s.kernel_id = d.kernel_id
