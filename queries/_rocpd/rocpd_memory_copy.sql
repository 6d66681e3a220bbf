-- Copies; the texts themselves are the ids of texts.
SELECT c.copy_id AS id, p.guid AS guid, p.node AS nid, p.pid AS pid, c.tid AS tid, c.start_ns AS start, c.end_ns AS "end", {copy_name} AS name_id,
    c.dst_agent_id AS dst_agent_id, CAST(NULL AS BIGINT) AS dst_address, c.src_agent_id AS src_agent_id,
    CAST(NULL AS BIGINT) AS src_address, c.bytes AS size, CAST(NULL AS BIGINT) AS queue_id, c.stream_id AS stream_id,
    CAST(NULL AS VARCHAR) AS region_name_id, c.copy_id * 4 + 1 AS event_id, CAST(NULL AS VARCHAR) AS extdata
FROM memory_copies AS c
JOIN processes AS p ON p.process = c.process
