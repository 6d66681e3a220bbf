-- Streams.
SELECT q.stream_id AS id, p.guid AS guid, p.node AS nid, p.pid AS pid, q.name AS name, CAST(NULL AS VARCHAR) AS extdata
FROM streams AS q
JOIN processes AS p ON p.process = q.process
