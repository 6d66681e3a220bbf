-- title: Scratch summary
-- about: Number, bytes and time of scratch memory operations of each queue, most bytes first.
-- kind: summary
-- needs: memory_allocations processes
-- by: rank, gpu, queue_id
-- dimensions: rank, gpu, process, node, hostname, agent_id, queue_id, stream_id, tid
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: queue_id id -- hardware queue
-- column: operation name -- ALLOC, FREE, REALLOC or RECLAIM
-- column: calls count -- operations
-- column: total_bytes bytes -- sum of the sizes, 0 for releases
-- column: mean_bytes bytes -- mean size
-- column: min_bytes bytes -- smallest size
-- column: max_bytes bytes -- largest size
-- column: total_ns ns -- sum of the durations
-- column: mean_ns ns -- mean duration
-- column: max_ns ns -- longest operation
WITH allocations AS (
    SELECT
        {{ keys_of('a') }}a.operation, a.bytes, a.duration_ns
    FROM memory_allocations AS a{{ join_processes('a') }}
    WHERE a.valid AND a.level = 'SCRATCH'
),
summed AS (
    SELECT
        {{ keys }}operation,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(bytes) AS BIGINT) AS total_bytes,
        MIN(bytes) AS min_bytes,
        MAX(bytes) AS max_bytes,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        MAX(duration_ns) AS max_ns
    FROM allocations
    GROUP BY {{ keys }}operation
),
labelled AS (
    SELECT
        {{ keys }}CAST(operation AS VARCHAR) AS operation,
        calls, total_bytes, min_bytes, max_bytes, total_ns, max_ns
    FROM summed
)
SELECT
    {{ keys }}operation,
    calls,
    total_bytes,
    CAST(total_bytes AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_bytes,
    min_bytes,
    max_bytes,
    total_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    max_ns
FROM labelled
{{ order_by('total_bytes DESC, operation') }}
