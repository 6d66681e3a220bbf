-- Code objects.
SELECT o.code_object_id AS id, p.guid AS guid, p.node AS nid, p.pid AS pid, o.agent_id AS agent_id, o.uri AS uri,
    o.load_base AS load_base, o.load_size AS load_size, CAST(NULL AS BIGINT) AS load_delta, CAST(NULL AS VARCHAR) AS storage_type,
    CAST(NULL AS VARCHAR) AS extdata
FROM code_objects AS o
JOIN processes AS p ON p.process = o.process
