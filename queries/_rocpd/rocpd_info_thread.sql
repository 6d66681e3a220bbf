-- Threads; their numbers are their ids.
SELECT t.tid AS id, p.guid AS guid, p.node AS nid, p.ppid AS ppid, p.pid AS pid, t.tid AS tid, t.name AS name, t.start_ns AS start,
    t.end_ns AS "end", CAST(NULL AS VARCHAR) AS extdata
FROM threads AS t
JOIN processes AS p ON p.process = t.process
