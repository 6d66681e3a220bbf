-- Processes with their nodes.
SELECT p.node AS nid, p.machine_id AS machine_id, CAST(NULL AS VARCHAR) AS system_name, p.hostname AS hostname,
    CAST(NULL AS VARCHAR) AS system_release, CAST(NULL AS VARCHAR) AS system_version, p.guid AS guid, p.ppid AS ppid, p.pid AS pid,
    p.start_ns AS init, p.start_ns AS start, p.end_ns AS "end", p.end_ns AS fini, p.command AS command
FROM processes AS p
