-- Calls of a domain; a marker has its text in the place of the function, and a mark ends when it starts.
SELECT {guid} c.category AS "Domain", c.name AS "Function", p.pid AS "Process_Id", c.tid AS "Thread_Id",
    c.correlation_id AS "Correlation_Id", c.start_ns AS "Start_Timestamp", c.end_ns AS "End_Timestamp"
FROM (
    SELECT process, region_id AS id, category, COALESCE(NULLIF(message, ''), CAST(name AS VARCHAR)) AS name, tid, correlation_id,
        start_ns, end_ns
    FROM regions
    WHERE process = {process} AND {domain}
    UNION ALL
    SELECT process, mark_id AS id, category, COALESCE(NULLIF(message, ''), CAST(name AS VARCHAR)) AS name, tid, correlation_id,
        time_ns AS start_ns, time_ns AS end_ns
    FROM marks
    WHERE process = {process} AND {domain}
) AS c
JOIN processes AS p ON p.process = c.process
ORDER BY c.start_ns, c.end_ns DESC, c.id
