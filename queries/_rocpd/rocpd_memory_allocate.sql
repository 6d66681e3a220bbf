-- Operations on memory.
SELECT m.alloc_id AS id, p.guid AS guid, p.node AS nid, p.pid AS pid, m.tid AS tid, m.agent_id AS agent_id, m.operation AS type,
    m.level AS level, m.start_ns AS start, m.end_ns AS "end", m.address AS address, m.bytes AS size, m.queue_id AS queue_id,
    m.stream_id AS stream_id, m.alloc_id * 4 + 3 AS event_id, CAST(NULL AS VARCHAR) AS extdata
FROM memory_allocations AS m
JOIN processes AS p ON p.process = m.process
