-- API calls, ranges and marks.
SELECT r.region_id AS id, p.guid AS guid, r.category AS category, r.name AS name, p.node AS nid, p.pid AS pid,
    r.tid AS tid, r.start_ns AS start, r.end_ns AS "end", r.end_ns - r.start_ns AS duration, r.region_id * 4 + 2 AS event_id,
    r.correlation_id AS stack_id, r.parent_correlation_id AS parent_stack_id, r.external_id AS corr_id,
    '{"message":"' || r.message || '"}' AS extdata, r.call_stack AS call_stack, CAST(NULL AS VARCHAR) AS line_info
FROM regions AS r
JOIN processes AS p ON p.process = r.process
UNION ALL
SELECT -m.mark_id - 1 AS id, p.guid AS guid, m.category AS category, m.category AS name, p.node AS nid, p.pid AS pid,
    m.tid AS tid, m.time_ns AS start, m.time_ns AS "end", m.time_ns - m.time_ns AS duration, -m.mark_id - 1 AS event_id,
    m.correlation_id AS stack_id, m.correlation_id AS parent_stack_id, CAST(NULL AS BIGINT) AS corr_id,
    '{"message":"' || m.message || '"}' AS extdata, CAST(NULL AS VARCHAR) AS call_stack, CAST(NULL AS VARCHAR) AS line_info
FROM marks AS m
JOIN processes AS p ON p.process = m.process
