-- Nodes, once for each process.
SELECT p.node AS id, p.guid AS guid, CAST(NULL AS BIGINT) AS hash, p.machine_id AS machine_id, CAST(NULL AS VARCHAR) AS system_name,
    p.hostname AS hostname, CAST(NULL AS VARCHAR) AS release, CAST(NULL AS VARCHAR) AS version, CAST(NULL AS VARCHAR) AS hardware_name,
    CAST(NULL AS VARCHAR) AS domain_name
FROM processes AS p
