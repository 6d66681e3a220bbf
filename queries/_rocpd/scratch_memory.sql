-- Operations on scratch memory.
SELECT m.alloc_id AS id, p.guid AS guid, p.node AS nid, p.pid AS pid, m.operation AS operation, a.name AS agent_name,
    m.agent_id AS agent_abs_index, CAST(NULL AS BIGINT) AS agent_log_index, m.gpu AS agent_type_index, a.agent_type AS agent_type,
    m.queue_id AS queue_id, m.tid AS tid, m.flags AS alloc_flags, m.start_ns AS start, m.end_ns AS "end",
    m.end_ns - m.start_ns AS duration, m.bytes AS size, m.address AS address, CAST(NULL AS BIGINT) AS correlation_id,
    m.correlation_id AS stack_id, m.correlation_id AS parent_stack_id, CAST(NULL AS BIGINT) AS corr_id,
    'SCRATCH_MEMORY' AS category, CAST(NULL AS VARCHAR) AS event_extdata
FROM memory_allocations AS m
JOIN processes AS p ON p.process = m.process
LEFT JOIN agents AS a ON a.process = m.process AND a.agent_id = m.agent_id
WHERE m.level = 'SCRATCH'
