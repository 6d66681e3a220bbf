-- Operations on memory, each once: where threads of two processes have one id, AMD's view has them twice.
SELECT m.alloc_id AS id, p.guid AS guid, CASE WHEN m.level = 'SCRATCH' THEN 'SCRATCH_MEMORY' ELSE 'MEMORY_ALLOCATION' END AS category, p.node AS nid, p.pid AS pid, m.tid AS tid,
    m.start_ns AS start, m.end_ns AS "end", m.end_ns - m.start_ns AS duration, m.operation AS type, m.level AS level,
    a.name AS agent_name, m.agent_id AS agent_abs_index, CAST(NULL AS BIGINT) AS agent_log_index, m.gpu AS agent_type_index,
    a.agent_type AS agent_type, m.address AS address, m.bytes AS size, m.queue_id AS queue_id, q.name AS queue_name,
    m.stream_id AS stream_id, t.name AS stream_name, m.correlation_id AS stack_id, m.correlation_id AS parent_stack_id,
    CAST(NULL AS BIGINT) AS corr_id
FROM memory_allocations AS m
JOIN processes AS p ON p.process = m.process
LEFT JOIN agents AS a ON a.process = m.process AND a.agent_id = m.agent_id
LEFT JOIN queues AS q ON q.process = m.process AND q.queue_id = m.queue_id
LEFT JOIN streams AS t ON t.process = m.process AND t.stream_id = m.stream_id
