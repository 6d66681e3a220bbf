-- title: Rank summary
-- about: GPU work of every rank, added up over its processes and the GPUs that each of them used, and how far it is from the mean of the ranks. What processes of a rank do on one GPU at the same time counts for each of them.
-- kind: summary
-- plot: stacked label=rank parts=busy_ns:compute,idle_ns
-- needs: processes gpu_segments kernels
-- sums: gpu_segments
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: processes count -- processes of the rank, those of counter passes and thread traces apart
-- column: hostname name -- machine, null where the processes of the rank ran on several
-- column: pid id -- process id, null where the rank has several processes
-- column: gpus count -- different GPUs that did something
-- column: kernels count -- dispatches
-- column: kernel_sum_ns ns -- sum of the kernel durations
-- column: span_ns ns -- first start to last end of the GPU activity of a process, for each GPU that it used
-- column: busy_ns ns -- time with at least one kernel or copy running
-- column: idle_ns ns -- span without any
-- column: busy_vs_mean_pct pct -- busy time above (or below) the mean of the ranks
-- column: kernel_sum_vs_mean_pct pct -- kernel time above (or below) the mean of the ranks
WITH gpu_time AS (
    SELECT
        process,
        SUM(duration_ns) AS span_ns,
        SUM(CASE WHEN {{ during['busy'] }} THEN duration_ns ELSE 0 END) AS busy_ns
    FROM gpu_segments
    GROUP BY process
),
kernel_time AS (
    SELECT process, COUNT(*) AS kernels, SUM(duration_ns) AS kernel_sum_ns
    FROM kernels
    WHERE valid
    GROUP BY process
),
of_process AS (
    SELECT
        p.rank, p.process,
        CAST(p.hostname AS VARCHAR) AS hostname,
        p.pid,
        CAST(COALESCE(k.kernels, 0) AS BIGINT) AS kernels,
        CAST(COALESCE(k.kernel_sum_ns, 0) AS BIGINT) AS kernel_sum_ns,
        CAST(COALESCE(g.span_ns, 0) AS BIGINT) AS span_ns,
        CAST(COALESCE(g.busy_ns, 0) AS BIGINT) AS busy_ns
    FROM processes AS p
    LEFT JOIN gpu_time AS g ON g.process = p.process
    LEFT JOIN kernel_time AS k ON k.process = p.process
    WHERE p.role = 'trace'
),
-- GPUs of which the device is not known count for each process.
used AS (
    SELECT
        p.rank,
        CASE
            WHEN s.device IS NULL THEN CAST(s.process AS VARCHAR) || '.' || CAST(s.gpu AS VARCHAR)
            ELSE CAST(s.device AS VARCHAR)
        END AS place
    FROM gpu_segments AS s
    JOIN processes AS p ON p.process = s.process
    WHERE p.role = 'trace'
),
places AS (
    SELECT rank, COUNT(DISTINCT place) AS gpus
    FROM used
    GROUP BY rank
),
of_rank AS (
    SELECT
        rank,
        CAST(COUNT(*) AS BIGINT) AS processes,
        CASE WHEN COUNT(hostname) = COUNT(*) AND MIN(hostname) = MAX(hostname) THEN MIN(hostname) END AS hostname,
        CASE WHEN COUNT(*) = 1 THEN MAX(pid) END AS pid,
        {{ sums('kernels, kernel_sum_ns, span_ns, busy_ns') }}
    FROM of_process
    GROUP BY rank
),
rank_rows AS (
    SELECT
        r.rank, r.processes, r.hostname, r.pid,
        CAST(COALESCE(u.gpus, 0) AS BIGINT) AS gpus,
        r.kernels, r.kernel_sum_ns, r.span_ns, r.busy_ns
    FROM of_rank AS r
    LEFT JOIN places AS u ON u.rank = r.rank
),
with_mean AS (
    SELECT
        rank, processes, hostname, pid, gpus, kernels, kernel_sum_ns, span_ns, busy_ns,
        CAST(SUM(busy_ns) OVER () AS DOUBLE) / CAST(COUNT(*) OVER () AS DOUBLE) AS mean_busy,
        CAST(SUM(kernel_sum_ns) OVER () AS DOUBLE) / CAST(COUNT(*) OVER () AS DOUBLE) AS mean_kernel_sum
    FROM rank_rows
)
SELECT
    rank,
    processes,
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
ORDER BY rank NULLS FIRST
