-- Busy time of every GPU from kernels and copies alone: what `gpu_segments` saves.
WITH activities AS (
    SELECT process, rank, gpu, start_ns, end_ns FROM kernels WHERE valid AND gpu IS NOT NULL
    UNION ALL
    SELECT process, rank, gpu, start_ns, end_ns FROM memory_copies WHERE valid AND gpu IS NOT NULL
    UNION ALL
    SELECT process, rank, peer_gpu AS gpu, start_ns, end_ns FROM memory_copies WHERE valid AND peer_gpu IS NOT NULL
),
reached AS (
    SELECT
        rank,
        gpu,
        start_ns,
        end_ns,
        MAX(end_ns) OVER (
            PARTITION BY process, gpu
            ORDER BY start_ns, end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before_ns
    FROM activities
)
SELECT
    rank,
    gpu,
    SUM(
        CASE
            WHEN before_ns IS NULL OR before_ns <= start_ns THEN end_ns - start_ns
            WHEN before_ns < end_ns THEN end_ns - before_ns
            ELSE 0
        END
    ) AS busy_ns
FROM reached
GROUP BY rank, gpu
ORDER BY rank, gpu
