-- Columns that kernels, copies, calls, operations on memory and marks have in common; the texts themselves are the ids of texts.
SELECT e.id AS id, p.guid AS guid, e.category AS category_id, e.stack_id AS stack_id, e.parent_stack_id AS parent_stack_id,
    e.correlation_id AS correlation_id, e.call_stack AS call_stack, CAST(NULL AS VARCHAR) AS line_info, e.extdata AS extdata
FROM (
    SELECT process, dispatch_id * 4 AS id, 'KERNEL_DISPATCH' AS category, correlation_id AS stack_id,
        correlation_id AS parent_stack_id, external_id AS correlation_id, CAST(NULL AS VARCHAR) AS call_stack,
        CAST(NULL AS VARCHAR) AS extdata
    FROM kernels
    UNION ALL
    SELECT process, copy_id * 4 + 1 AS id, 'MEMORY_COPY' AS category, correlation_id AS stack_id,
        correlation_id AS parent_stack_id, CAST(NULL AS BIGINT) AS correlation_id, CAST(NULL AS VARCHAR) AS call_stack,
        CAST(NULL AS VARCHAR) AS extdata
    FROM memory_copies
    UNION ALL
    SELECT process, region_id * 4 + 2 AS id, CAST(category AS VARCHAR) AS category, correlation_id AS stack_id,
        parent_correlation_id AS parent_stack_id, external_id AS correlation_id, call_stack AS call_stack,
        '{"message":"' || message || '"}' AS extdata
    FROM regions
    UNION ALL
    SELECT process, alloc_id * 4 + 3 AS id, CASE CAST(level AS VARCHAR) WHEN 'SCRATCH' THEN 'SCRATCH_MEMORY' ELSE 'MEMORY_ALLOCATION' END
        AS category, correlation_id AS stack_id, correlation_id AS parent_stack_id, CAST(NULL AS BIGINT) AS correlation_id,
        CAST(NULL AS VARCHAR) AS call_stack, CAST(NULL AS VARCHAR) AS extdata
    FROM memory_allocations
    UNION ALL
    SELECT process, -mark_id - 1 AS id, CAST(category AS VARCHAR) AS category, correlation_id AS stack_id,
        correlation_id AS parent_stack_id, CAST(NULL AS BIGINT) AS correlation_id, CAST(NULL AS VARCHAR) AS call_stack,
        '{"message":"' || message || '"}' AS extdata
    FROM marks
) AS e
JOIN processes AS p ON p.process = e.process
