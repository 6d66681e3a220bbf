-- title: Rank summary
-- about: GPU work of every rank, added up over the GPUs it used, and how far it is from the mean of the ranks.
-- kind: summary
-- plot: stacked label=rank parts=busy_ns:compute,idle_ns
-- needs: processes gpu_segments kernels
-- sums: gpu_segments
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: hostname name -- machine
-- column: pid id -- process id
-- column: gpus count -- GPUs that did something
-- column: kernels count -- dispatches
-- column: kernel_sum_ns ns -- sum of the kernel durations
-- column: span_ns ns -- first start to last end of the GPU activity, for each used GPU
-- column: busy_ns ns -- time with at least one kernel or copy running
-- column: idle_ns ns -- span without any
-- column: busy_vs_mean_pct pct -- busy time above (or below) the mean of the ranks
-- column: kernel_sum_vs_mean_pct pct -- kernel time above (or below) the mean of the ranks
WITH gpu_time AS (
    SELECT
        process,
        COUNT(DISTINCT gpu) AS gpus,
        SUM(duration_ns) AS span_ns,
        SUM(CASE WHEN compute > 0 OR comm > 0 OR copies > 0 THEN duration_ns ELSE 0 END) AS busy_ns
    FROM gpu_segments
    GROUP BY process
),
kernel_time AS (
    SELECT process, COUNT(*) AS kernels, SUM(duration_ns) AS kernel_sum_ns
    FROM kernels
    WHERE valid
    GROUP BY process
),
rank_rows AS (
    SELECT
        p.rank,
        p.process,
        p.hostname,
        p.pid,
        CAST(COALESCE(g.gpus, 0) AS BIGINT) AS gpus,
        CAST(COALESCE(k.kernels, 0) AS BIGINT) AS kernels,
        CAST(COALESCE(k.kernel_sum_ns, 0) AS BIGINT) AS kernel_sum_ns,
        CAST(COALESCE(g.span_ns, 0) AS BIGINT) AS span_ns,
        CAST(COALESCE(g.busy_ns, 0) AS BIGINT) AS busy_ns
    FROM processes AS p
    LEFT JOIN gpu_time AS g ON g.process = p.process
    LEFT JOIN kernel_time AS k ON k.process = p.process
    WHERE p.role = 'trace'
),
with_mean AS (
    SELECT
        rank,
        process,
        hostname,
        pid,
        gpus,
        kernels,
        kernel_sum_ns,
        span_ns,
        busy_ns,
        CAST(SUM(busy_ns) OVER () AS DOUBLE) / CAST(COUNT(*) OVER () AS DOUBLE) AS mean_busy,
        CAST(SUM(kernel_sum_ns) OVER () AS DOUBLE) / CAST(COUNT(*) OVER () AS DOUBLE) AS mean_kernel_sum
    FROM rank_rows
)
SELECT
    rank,
    hostname,
    pid,
    gpus,
    kernels,
    kernel_sum_ns,
    span_ns,
    busy_ns,
    span_ns - busy_ns AS idle_ns,
    CAST(100 AS DOUBLE) * (CAST(busy_ns AS DOUBLE) - mean_busy) / NULLIF(mean_busy, CAST(0 AS DOUBLE)) AS busy_vs_mean_pct,
    CAST(100 AS DOUBLE) * (CAST(kernel_sum_ns AS DOUBLE) - mean_kernel_sum) / NULLIF(mean_kernel_sum, CAST(0 AS DOUBLE)) AS kernel_sum_vs_mean_pct
FROM with_mean
ORDER BY rank NULLS FIRST, process NULLS FIRST
