-- Operations on scratch memory.
SELECT {guid} 'SCRATCH_MEMORY' AS "Kind",
    'SCRATCH_MEMORY_' || CASE CAST(a.operation AS VARCHAR) WHEN 'RECLAIM' THEN 'ASYNC_RECLAIM' ELSE CAST(a.operation AS VARCHAR) END
        AS "Operation",
    'Agent ' || CAST(a.agent_id AS VARCHAR) AS "Agent_Id", a.queue_id AS "Queue_Id", a.tid AS "Thread_Id",
    a.flags AS "Alloc_Flags", a.start_ns AS "Start_Timestamp", a.end_ns AS "End_Timestamp"
FROM memory_allocations AS a
JOIN processes AS p ON p.process = a.process
WHERE a.process = {process} AND a.level = 'SCRATCH'
ORDER BY a.start_ns, a.end_ns DESC, a.alloc_id
