-- Marks.
SELECT -m.mark_id - 1 AS id, p.guid AS guid, m.category AS category, m.category AS name, p.node AS nid, p.pid AS pid, m.tid AS tid,
    m.time_ns AS timestamp, -m.mark_id - 1 AS event_id, m.correlation_id AS stack_id, m.correlation_id AS parent_stack_id,
    CAST(NULL AS BIGINT) AS corr_id, '{"message":"' || m.message || '"}' AS extdata, CAST(NULL AS VARCHAR) AS call_stack,
    CAST(NULL AS VARCHAR) AS line_info
FROM marks AS m
JOIN processes AS p ON p.process = m.process
