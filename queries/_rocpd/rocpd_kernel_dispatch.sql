-- Dispatches; the texts themselves are the ids of texts.
SELECT k.dispatch_id AS id, p.guid AS guid, p.node AS nid, p.pid AS pid, k.tid AS tid, k.agent_id AS agent_id, k.kernel_id AS kernel_id,
    k.dispatch_id AS dispatch_id, k.queue_id AS queue_id, k.stream_id AS stream_id, k.start_ns AS start, k.end_ns AS "end",
    k.scratch_bytes AS private_segment_size, k.lds_bytes AS group_segment_size, k.workgroup_x AS workgroup_size_x,
    k.workgroup_y AS workgroup_size_y, k.workgroup_z AS workgroup_size_z, k.grid_x AS grid_size_x, k.grid_y AS grid_size_y,
    k.grid_z AS grid_size_z, CAST(k.region_name AS VARCHAR) AS region_name_id, k.dispatch_id * 4 AS event_id, CAST(NULL AS VARCHAR) AS extdata
FROM kernels AS k
JOIN processes AS p ON p.process = k.process
