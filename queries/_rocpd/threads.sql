-- Threads with their processes; AMD's view has an error and cannot be read.
SELECT p.node AS nid, p.machine_id AS machine_id, CAST(NULL AS VARCHAR) AS system_name, p.hostname AS hostname,
    CAST(NULL AS VARCHAR) AS system_release, CAST(NULL AS VARCHAR) AS system_version, p.guid AS guid, p.ppid AS ppid, p.pid AS pid,
    t.tid AS tid, t.start_ns AS start, t.end_ns AS "end", t.name AS name
FROM threads AS t
JOIN processes AS p ON p.process = t.process
