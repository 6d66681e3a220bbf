-- Streams that calls name as arguments; the numbers of the streams are not read.
SELECT a.position AS argument_id,
    CASE CAST(a.owner AS VARCHAR) WHEN 'kernel' THEN a.owner_id * 4 WHEN 'copy' THEN a.owner_id * 4 + 1 ELSE a.owner_id * 4 + 2 END
        AS event_id,
    a.position AS arg_position, a.type AS arg_type, a.value AS arg_value, CAST(NULL AS BIGINT) AS stream_id, p.node AS nid,
    p.pid AS pid, CAST(NULL AS VARCHAR) AS stream_name, CAST(NULL AS VARCHAR) AS extdata
FROM args AS a
JOIN processes AS p ON p.process = a.process
WHERE a.name = 'stream'
