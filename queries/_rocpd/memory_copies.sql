-- Copies with their agents; those of an agent that is not listed are here too.
SELECT c.copy_id AS id, p.guid AS guid, 'MEMORY_COPY' AS category, p.node AS nid, p.pid AS pid, c.tid AS tid, c.start_ns AS start,
    c.end_ns AS "end", c.end_ns - c.start_ns AS duration, {copy_name} AS name,
    CAST(NULL AS VARCHAR) AS region_name, c.stream_id AS stream_id, CAST(NULL AS BIGINT) AS queue_id, t.name AS stream_name,
    CAST(NULL AS VARCHAR) AS queue_name, c.bytes AS size, d.name AS dst_device, c.dst_agent_id AS dst_agent_abs_index,
    CAST(NULL AS BIGINT) AS dst_agent_log_index, d.gpu AS dst_agent_type_index, d.agent_type AS dst_agent_type,
    CAST(NULL AS BIGINT) AS dst_address, s.name AS src_device, c.src_agent_id AS src_agent_abs_index,
    CAST(NULL AS BIGINT) AS src_agent_log_index, s.gpu AS src_agent_type_index, s.agent_type AS src_agent_type,
    CAST(NULL AS BIGINT) AS src_address, c.correlation_id AS stack_id, c.correlation_id AS parent_stack_id,
    CAST(NULL AS BIGINT) AS corr_id
FROM memory_copies AS c
JOIN processes AS p ON p.process = c.process
LEFT JOIN agents AS d ON d.process = c.process AND d.agent_id = c.dst_agent_id
LEFT JOIN agents AS s ON s.process = c.process AND s.agent_id = c.src_agent_id
LEFT JOIN streams AS t ON t.process = c.process AND t.stream_id = c.stream_id
