-- API calls and ranges.
SELECT r.region_id AS id, p.guid AS guid, r.category AS category, r.name AS name, p.node AS nid, p.pid AS pid,
    r.tid AS tid, r.start_ns AS start, r.end_ns AS "end", r.end_ns - r.start_ns AS duration, r.region_id * 4 + 2 AS event_id,
    r.correlation_id AS stack_id, r.parent_correlation_id AS parent_stack_id, r.external_id AS corr_id,
    '{"message":"' || r.message || '"}' AS extdata, r.call_stack AS call_stack, CAST(NULL AS VARCHAR) AS line_info
FROM regions AS r
JOIN processes AS p ON p.process = r.process
