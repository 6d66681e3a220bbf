-- API calls and ranges; the texts themselves are the ids of texts.
SELECT r.region_id AS id, p.guid AS guid, p.node AS nid, p.pid AS pid, r.tid AS tid, r.start_ns AS start, r.end_ns AS "end",
    CAST(r.name AS VARCHAR) AS name_id, r.region_id * 4 + 2 AS event_id, CAST(NULL AS VARCHAR) AS extdata
FROM regions AS r
JOIN processes AS p ON p.process = r.process
