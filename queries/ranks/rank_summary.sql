-- title: Rank summary
-- about: GPU work of every rank over its processes and their GPUs, and its distance from the mean of the ranks of the run: those of other programs next to it (`programs`) have none. Concurrent work of several processes of a rank on one GPU counts for each.
-- kind: summary
-- plot: stacked label=rank parts=busy_ns:compute,idle_ns
-- needs: processes gpu_segments kernels programs
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
        CASE WHEN n.compared OR n.compared IS NULL THEN 1 ELSE 0 END AS compared,
        CAST(COALESCE(k.kernels, 0) AS BIGINT) AS kernels,
        CAST(COALESCE(k.kernel_sum_ns, 0) AS BIGINT) AS kernel_sum_ns,
        CAST(COALESCE(g.span_ns, 0) AS BIGINT) AS span_ns,
        CAST(COALESCE(g.busy_ns, 0) AS BIGINT) AS busy_ns
    FROM processes AS p
    LEFT JOIN gpu_time AS g ON g.process = p.process
    LEFT JOIN kernel_time AS k ON k.process = p.process
    LEFT JOIN programs AS n ON n.process = p.process
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
        MAX(compared) AS compared,
        {{ sums('kernels, kernel_sum_ns, span_ns, busy_ns') }}
    FROM of_process
    GROUP BY rank
),
rank_rows AS (
    SELECT
        r.rank, r.processes, r.hostname, r.pid, r.compared,
        CAST(COALESCE(u.gpus, 0) AS BIGINT) AS gpus,
        r.kernels, r.kernel_sum_ns, r.span_ns, r.busy_ns
    FROM of_rank AS r
    LEFT JOIN places AS u ON u.rank = r.rank
),
with_mean AS (
    SELECT
        rank, processes, hostname, pid, gpus, kernels, kernel_sum_ns, span_ns, busy_ns,
        -- Without a value where the rank is not compared, so that its distances have none either.
        CASE
            WHEN compared = 1 THEN CAST(SUM(busy_ns * compared) OVER () AS DOUBLE) / CAST(SUM(compared) OVER () AS DOUBLE)
        END AS mean_busy,
        CASE
            WHEN compared = 1 THEN CAST(SUM(kernel_sum_ns * compared) OVER () AS DOUBLE) / CAST(SUM(compared) OVER () AS DOUBLE)
        END AS mean_kernel_sum
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
