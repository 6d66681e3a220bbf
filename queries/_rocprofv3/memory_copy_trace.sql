-- Copies, without their sizes, which rocprofv3 does not list.
SELECT {guid} 'MEMORY_COPY' AS "Kind", {copy_name} AS "Direction",
    c.stream_id AS "Stream_Id", 'Agent ' || CAST(c.src_agent_id AS VARCHAR) AS "Source_Agent_Id",
    'Agent ' || CAST(c.dst_agent_id AS VARCHAR) AS "Destination_Agent_Id", c.correlation_id AS "Correlation_Id",
    c.start_ns AS "Start_Timestamp", c.end_ns AS "End_Timestamp"
FROM memory_copies AS c
JOIN processes AS p ON p.process = c.process
WHERE c.process = {process}
ORDER BY c.start_ns, c.end_ns DESC, c.copy_id
