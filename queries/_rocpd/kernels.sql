-- Dispatches with their kernels, queues and threads; those without a region name or a symbol are here too.
SELECT k.dispatch_id AS id, p.guid AS guid, k.tid AS tid, 'KERNEL_DISPATCH' AS category, k.region_name AS region,
    k.kernel_name AS name, p.node AS nid, p.pid AS pid, k.agent_id AS agent_abs_index, CAST(NULL AS BIGINT) AS agent_log_index,
    k.gpu AS agent_type_index, 'GPU' AS agent_type, s.code_object_id AS code_object_id, k.kernel_id AS kernel_id,
    k.dispatch_id AS dispatch_id, k.stream_id AS stream_id, k.queue_id AS queue_id, q.name AS queue, t.name AS stream,
    k.start_ns AS start, k.end_ns AS "end", k.end_ns - k.start_ns AS duration, k.grid_x AS grid_x, k.grid_y AS grid_y,
    k.grid_z AS grid_z, k.workgroup_x AS workgroup_x, k.workgroup_y AS workgroup_y, k.workgroup_z AS workgroup_z,
    k.lds_bytes AS lds_size, k.scratch_bytes AS scratch_size, s.vgpr AS vgpr_count, s.accum_vgpr AS accum_vgpr_count,
    s.sgpr AS sgpr_count, s.lds_static_bytes AS static_lds_size, s.scratch_static_bytes AS static_scratch_size,
    k.correlation_id AS stack_id, k.correlation_id AS parent_stack_id, k.external_id AS corr_id
FROM kernels AS k
JOIN processes AS p ON p.process = k.process
LEFT JOIN kernel_symbols AS s ON s.process = k.process AND s.kernel_id = k.kernel_id
LEFT JOIN queues AS q ON q.process = k.process AND q.queue_id = k.queue_id
LEFT JOIN streams AS t ON t.process = k.process AND t.stream_id = k.stream_id
