-- Tracks of marks; their names are their ids.
SELECT DISTINCT CAST(m.category AS VARCHAR) AS id, p.guid AS guid, p.node AS nid, p.pid AS pid, m.tid AS tid,
    CAST(m.category AS VARCHAR) AS name_id, CAST(NULL AS VARCHAR) AS extdata
FROM marks AS m
JOIN processes AS p ON p.process = m.process
