-- Streamed counters, a row for each sample of a hardware instance; the dispatches that ran meanwhile are not kept.
SELECT CAST(NULL AS BIGINT) AS id, p.guid AS guid, CAST(NULL AS BIGINT) AS dispatch_id, CAST(NULL AS BIGINT) AS kernel_id,
    CAST(NULL AS BIGINT) AS event_id, CAST(NULL AS BIGINT) AS correlation_id, CAST(NULL AS BIGINT) AS stack_id,
    CAST(NULL AS BIGINT) AS parent_stack_id, p.pid AS pid, CAST(NULL AS BIGINT) AS tid, s.agent_id AS agent_id,
    s.agent_id AS agent_abs_index, CAST(NULL AS BIGINT) AS agent_log_index, CAST(NULL AS BIGINT) AS agent_type_index,
    'GPU' AS agent_type, CAST(NULL AS BIGINT) AS queue_id, CAST(NULL AS BIGINT) AS grid_size_x, CAST(NULL AS BIGINT) AS grid_size_y,
    CAST(NULL AS BIGINT) AS grid_size_z, CAST(NULL AS BIGINT) AS grid_size, CAST(NULL AS VARCHAR) AS kernel_name,
    CAST(NULL AS VARCHAR) AS kernel_region, CAST(NULL AS BIGINT) AS workgroup_size_x, CAST(NULL AS BIGINT) AS workgroup_size_y,
    CAST(NULL AS BIGINT) AS workgroup_size_z, CAST(NULL AS BIGINT) AS workgroup_size, CAST(NULL AS BIGINT) AS lds_block_size,
    CAST(NULL AS BIGINT) AS scratch_size, CAST(NULL AS BIGINT) AS vgpr_count, CAST(NULL AS BIGINT) AS accum_vgpr_count,
    CAST(NULL AS BIGINT) AS sgpr_count, s.name AS counter_name, s.name AS counter_symbol, CAST(NULL AS VARCHAR) AS component,
    CAST(NULL AS VARCHAR) AS description, CAST(NULL AS VARCHAR) AS block, CAST(NULL AS VARCHAR) AS expression,
    CAST(NULL AS VARCHAR) AS value_type, s.name AS counter_id,
    CAST(NULLIF(SPLIT_PART(REPLACE(SPLIT_PART(s.track, 'XCC: ', 2), ']', ','), ',', 1), '') AS BIGINT) AS xcc,
    CAST(NULLIF(SPLIT_PART(REPLACE(SPLIT_PART(s.track, 'SE: ', 2), ']', ','), ',', 1), '') AS BIGINT) AS shader_engine,
    CAST(NULLIF(SPLIT_PART(REPLACE(SPLIT_PART(s.track, 'SA: ', 2), ']', ','), ',', 1), '') AS BIGINT) AS shader_array,
    CAST(NULLIF(SPLIT_PART(REPLACE(SPLIT_PART(s.track, 'WGP: ', 2), ']', ','), ',', 1), '') AS BIGINT) AS wgp,
    CAST(NULLIF(SPLIT_PART(REPLACE(SPLIT_PART(s.track, 'Instance: ', 2), ']', ','), ',', 1), '') AS BIGINT) AS instance,
    s.value AS value, s.time_ns AS timestamp, CAST(NULL AS BIGINT) AS is_constant, CAST(NULL AS BIGINT) AS is_derived,
    'SPM' AS category, p.node AS nid, CAST(NULL AS VARCHAR) AS extdata, CAST(NULL AS BIGINT) AS code_object_id
FROM (SELECT process, agent_id, time_ns, value, CAST(name AS VARCHAR) AS name, CAST(track AS VARCHAR) AS track FROM samples) AS s
JOIN processes AS p ON p.process = s.process
WHERE s.track = 'spm' OR s.track LIKE 'spm [%' OR s.track LIKE '% [XCC: %' OR s.track LIKE '% [SE: %' OR s.track LIKE '% [Instance: %'
