-- Allocations and frees, but those of scratch memory.
SELECT {guid} 'MEMORY_ALLOCATION' AS "Kind",
    'MEMORY_ALLOCATION_' || CASE WHEN CAST(a.level AS VARCHAR) = 'VIRTUAL' THEN 'VMEM_' ELSE '' END
        || CASE CAST(a.operation AS VARCHAR) WHEN 'ALLOC' THEN 'ALLOCATE' ELSE CAST(a.operation AS VARCHAR) END AS "Operation",
    COALESCE('Agent ' || CAST(a.agent_id AS VARCHAR), '') AS "Agent_Id", a.bytes AS "Allocation_Size", a.address AS "Address",
    a.correlation_id AS "Correlation_Id", a.start_ns AS "Start_Timestamp", a.end_ns AS "End_Timestamp"
FROM memory_allocations AS a
JOIN processes AS p ON p.process = a.process
WHERE a.process = {process} AND a.level <> 'SCRATCH'
ORDER BY a.start_ns, a.end_ns DESC, a.alloc_id
