-- title: Memory in use
-- about: Memory of each GPU in use as sampled (AMD SMI), beside what the process is known to have allocated. What is sampled belongs to all processes and to the runtime; a large difference is memory that the trace does not explain.
-- kind: summary
-- needs: samples agents memory_live
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: process id -- process
-- column: gpu id -- GPU of the process
-- column: samples count -- samples
-- column: min_bytes bytes -- least in use
-- column: mean_bytes bytes -- mean of the samples
-- column: max_bytes bytes -- most in use
-- column: max_pct pct -- share of the memory of the GPU, null where its size is not recorded
-- column: allocated_bytes bytes -- most bytes of device memory live at once by allocations and frees, null where none is recorded
-- column: other_bytes bytes -- max_bytes less allocated_bytes
WITH sampled AS (
    SELECT
        process, rank, agent_id,
        value * CASE
            WHEN CAST(unit AS VARCHAR) = 'MB' THEN CAST(1048576 AS DOUBLE)
            WHEN CAST(unit AS VARCHAR) = 'KB' THEN CAST(1024 AS DOUBLE)
            ELSE CAST(1 AS DOUBLE)
        END AS bytes
    FROM samples
    WHERE value IS NOT NULL AND (CAST(name AS VARCHAR) LIKE 'Memory Usage%' OR CAST(name AS VARCHAR) LIKE 'GPU Memory Usage%')
),
summed AS (
    SELECT
        process, rank, agent_id,
        CAST(COUNT(*) AS BIGINT) AS samples,
        MIN(bytes) AS min_bytes,
        AVG(bytes) AS mean_bytes,
        MAX(bytes) AS max_bytes
    FROM sampled
    GROUP BY process, rank, agent_id
),
live AS (
    SELECT process, gpu, MAX(live_bytes) AS allocated_bytes
    FROM memory_live
    WHERE gpu IS NOT NULL AND CAST(level AS VARCHAR) = 'REAL'
    GROUP BY process, gpu
)
SELECT
    s.rank,
    s.process,
    a.gpu,
    s.samples,
    CAST(s.min_bytes AS BIGINT) AS min_bytes,
    s.mean_bytes,
    CAST(s.max_bytes AS BIGINT) AS max_bytes,
    CAST(100 AS DOUBLE) * s.max_bytes / NULLIF(CAST(a.mem_bytes AS DOUBLE), CAST(0 AS DOUBLE)) AS max_pct,
    l.allocated_bytes,
    CAST(s.max_bytes AS BIGINT) - l.allocated_bytes AS other_bytes
FROM summed AS s
LEFT JOIN agents AS a ON a.process = s.process AND a.agent_id = s.agent_id
LEFT JOIN live AS l ON l.process = s.process AND l.gpu = a.gpu
ORDER BY s.rank NULLS LAST, s.process NULLS LAST, a.gpu NULLS LAST, s.agent_id NULLS LAST
