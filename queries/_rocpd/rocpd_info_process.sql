-- Processes; their pids are their ids, and the environment is left out.
SELECT p.pid AS id, p.guid AS guid, p.node AS nid, p.ppid AS ppid, p.pid AS pid, p.start_ns AS init, p.end_ns AS fini, p.start_ns AS start,
    p.end_ns AS "end", p.command AS command, CAST(NULL AS VARCHAR) AS environment, CAST(NULL AS VARCHAR) AS extdata
FROM processes AS p
