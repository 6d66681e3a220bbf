-- title: Stragglers
-- about: GPUs that delay the others, and why, compared with the median of the GPUs of all ranks (of two GPUs, with the other). Other programs next to the run are left out (`programs`). A row needs a relevant excess (`min_pct`) that clearly exceeds the usual differences of the GPUs (`min_z`). The first collective of a communicator does not count, because processes start at different times. No rows: no straggler. Reasons overlap, so the excesses of one GPU do not add up.
-- kind: summary
-- needs: gpu_segments kernels collective_kernels programs processes
-- sums: gpu_segments
-- by:
-- dimensions:
-- param: min_pct float = 2 [0, 100] -- least excess in percent of the median span of the GPUs; less is not worth looking at, as a job gets faster by at most its worst excess
-- param: min_z float = 3 [0, 1000000] -- least excess in units of the spread of the GPUs, 1.4826 times their median absolute deviation; of normal values 1 in 700 is further up
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: hostname name -- machine
-- column: what text -- compute (time with a compute kernel), slow_kernels (the same kernels of the same grid and, if all GPUs recorded those of as many dispatches, the same inputs take longer), more_work (more or larger dispatches), idle (nothing runs: its host is slow), late (others wait for it in collectives, with nothing else to do)
-- column: amount_ns ns -- its time; of slow_kernels above the medians of the same kernels, of late what its collectives took less than the longest of each, as far as that kept a GPU from computing
-- column: median_ns ns -- median of the GPUs, of two the lesser
-- column: excess_ns ns -- above it
-- column: excess_pct pct -- as a share of the median span
-- column: z number -- as units of spread, null where the others do not differ at all, and of two
-- column: gpus count -- GPUs that were compared
-- column: slower_pct pct -- of slow_kernels: how much longer they take, in percent of what they would take
-- column: last_pct pct -- of late: share of its collectives to which it came last
WITH segment_times AS (
    SELECT
        process, rank, gpu,
        CAST(SUM(duration_ns) AS DOUBLE) AS span_ns,
        CAST(SUM(CASE WHEN {{ during['compute'] }} THEN duration_ns ELSE 0 END) AS DOUBLE) AS compute_ns,
        CAST(SUM(CASE WHEN {{ during['idle'] }} THEN duration_ns ELSE 0 END) AS DOUBLE) AS idle_ns
    FROM gpu_segments
    GROUP BY process, rank, gpu
),
members AS (
    SELECT t.process, t.rank, t.gpu, p.hostname, t.span_ns, t.compute_ns, t.idle_ns
    FROM segment_times AS t
    JOIN processes AS p ON p.process = t.process
    LEFT JOIN programs AS g ON g.process = t.process
    WHERE p.role = 'trace' AND (g.compared OR g.compared IS NULL)
),
work_of_all AS (
    SELECT
        process, gpu, category, kernel_name, grid_x, grid_y, grid_z, inputs,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns
    FROM kernels
    WHERE valid
    GROUP BY process, gpu, category, kernel_name, grid_x, grid_y, grid_z, inputs
),
work AS (
    SELECT
        process, gpu, kernel_name, grid_x, grid_y, grid_z, inputs,
        {{ sums('calls, total_ns') }}
    FROM work_of_all
    WHERE category <> 'communication'
    GROUP BY process, gpu, kernel_name, grid_x, grid_y, grid_z, inputs
),
recorded_work AS (
    SELECT
        w.process, w.gpu, CAST(w.kernel_name AS VARCHAR) AS kernel_name, w.grid_x, w.grid_y, w.grid_z,
        COALESCE(CAST(w.inputs AS VARCHAR), '') AS inputs,
        CAST(w.calls AS DOUBLE) AS calls,
        CAST(w.total_ns AS DOUBLE) AS total_ns
    FROM work AS w
    LEFT JOIN programs AS g ON g.process = w.process
    WHERE g.compared OR g.compared IS NULL
),
recorded_inputs AS (
    SELECT
        process, gpu, kernel_name, grid_x, grid_y, grid_z,
        SUM(CASE WHEN inputs = '' THEN calls ELSE CAST(0 AS DOUBLE) END) / SUM(calls) AS unknown_share
    FROM recorded_work
    GROUP BY process, gpu, kernel_name, grid_x, grid_y, grid_z
),
common_inputs AS (
    -- Unknown inputs are not other work: unless all GPUs lack those of as many dispatches, inputs do not count.
    SELECT
        kernel_name, grid_x, grid_y, grid_z,
        CASE WHEN CAST(200 AS DOUBLE) * (MAX(unknown_share) - MIN(unknown_share)) <= CAST(1 AS DOUBLE) THEN 1 ELSE 0 END AS has_inputs
    FROM recorded_inputs
    GROUP BY kernel_name, grid_x, grid_y, grid_z
),
compared_work AS (
    SELECT
        w.process, w.gpu, w.kernel_name, w.grid_x, w.grid_y, w.grid_z, w.calls, w.total_ns,
        CASE WHEN c.has_inputs = 1 THEN w.inputs ELSE '' END AS compared_inputs
    FROM recorded_work AS w
    JOIN common_inputs AS c
        ON c.kernel_name = w.kernel_name AND c.grid_x = w.grid_x AND c.grid_y = w.grid_y AND c.grid_z = w.grid_z
),
summed_work AS (
    SELECT
        process, gpu, kernel_name, grid_x, grid_y, grid_z, compared_inputs,
        SUM(calls) AS calls,
        SUM(total_ns) AS total_ns
    FROM compared_work
    GROUP BY process, gpu, kernel_name, grid_x, grid_y, grid_z, compared_inputs
),
named_work AS (
    SELECT
        process, gpu, kernel_name, grid_x, grid_y, grid_z, compared_inputs AS inputs, calls, total_ns,
        total_ns / calls AS mean_ns
    FROM summed_work
),
usual AS (
    SELECT kernel_name, grid_x, grid_y, grid_z, inputs, COUNT(*) AS gpus, MEDIAN(mean_ns) AS median_ns, MIN(mean_ns) AS least_ns
    FROM named_work
    GROUP BY kernel_name, grid_x, grid_y, grid_z, inputs
),
expected AS (
    SELECT
        w.process, w.gpu, w.total_ns,
        w.calls * CASE WHEN u.gpus = 2 THEN u.least_ns ELSE u.median_ns END AS expected_ns
    FROM named_work AS w
    JOIN usual AS u
        ON u.kernel_name = w.kernel_name AND u.grid_x = w.grid_x AND u.grid_y = w.grid_y AND u.grid_z = w.grid_z
            AND u.inputs = w.inputs
),
pace AS (
    SELECT process, gpu, SUM(total_ns - expected_ns) AS slow_ns, SUM(expected_ns) AS work_ns
    FROM expected
    GROUP BY process, gpu
),
together AS (
    SELECT collective, MAX(duration_ns) AS max_ns, MIN(duration_ns) AS min_ns, MIN(ordinal) AS least_ordinal
    FROM collective_kernels
    WHERE gpus > 1 AND collective IS NOT NULL
    GROUP BY collective
),
waits AS (
    SELECT
        k.collective, k.process, k.gpu,
        t.max_ns - k.duration_ns AS late_ns,
        CASE WHEN k.duration_ns = t.min_ns THEN 1 ELSE 0 END AS is_last,
        CASE WHEN k.exposed_ns < k.duration_ns - t.min_ns THEN k.exposed_ns ELSE k.duration_ns - t.min_ns END AS exposed_wait_ns
    FROM collective_kernels AS k
    JOIN together AS t ON t.collective = k.collective
    WHERE t.least_ordinal > 0
),
costs AS (
    SELECT collective, MAX(exposed_wait_ns) AS cost_ns
    FROM waits
    GROUP BY collective
),
arrivals AS (
    SELECT
        w.process, w.gpu,
        CAST(SUM(CASE WHEN w.late_ns < c.cost_ns THEN w.late_ns ELSE c.cost_ns END) AS DOUBLE) AS late_ns,
        CAST(SUM(w.is_last) AS DOUBLE) AS last_calls,
        CAST(COUNT(*) AS DOUBLE) AS calls
    FROM waits AS w
    JOIN costs AS c ON c.collective = w.collective
    GROUP BY w.process, w.gpu
),
kinds AS (
    SELECT n
    FROM numbers
    WHERE n < 5
),
measured AS (
    SELECT
        m.process, m.rank, m.gpu, m.hostname, m.span_ns, k.n,
        CASE
            WHEN k.n = 0 THEN m.compute_ns
            WHEN k.n = 1 THEN COALESCE(p.slow_ns, CAST(0 AS DOUBLE))
            WHEN k.n = 2 THEN COALESCE(p.work_ns, CAST(0 AS DOUBLE))
            WHEN k.n = 3 THEN m.idle_ns
            ELSE a.late_ns
        END AS amount_ns,
        CASE WHEN k.n = 1 THEN CAST(100 AS DOUBLE) * p.slow_ns / NULLIF(p.work_ns, CAST(0 AS DOUBLE)) END AS slower_pct,
        CASE WHEN k.n = 4 THEN CAST(100 AS DOUBLE) * a.last_calls / NULLIF(a.calls, CAST(0 AS DOUBLE)) END AS last_pct
    FROM members AS m
    LEFT JOIN pace AS p ON p.process = m.process AND p.gpu = m.gpu
    LEFT JOIN arrivals AS a ON a.process = m.process AND a.gpu = m.gpu
    CROSS JOIN kinds AS k
),
centres AS (
    SELECT
        n,
        CAST(COUNT(*) AS BIGINT) AS gpus,
        MEDIAN(span_ns) AS span_ns,
        CASE WHEN COUNT(*) = 2 THEN MIN(amount_ns) ELSE MEDIAN(amount_ns) END AS median_ns
    FROM measured
    WHERE amount_ns IS NOT NULL
    GROUP BY n
),
excesses AS (
    SELECT
        m.process, m.rank, m.gpu, m.hostname, m.n, m.amount_ns, m.slower_pct, m.last_pct, c.gpus, c.median_ns, c.span_ns,
        m.amount_ns - c.median_ns AS excess_ns
    FROM measured AS m
    JOIN centres AS c ON c.n = m.n
    WHERE c.gpus > 1 AND m.amount_ns IS NOT NULL
),
spreads AS (
    SELECT n, MEDIAN(ABS(excess_ns)) * CAST(1.4826 AS DOUBLE) AS spread_ns
    FROM excesses
    GROUP BY n
),
rated AS (
    SELECT
        e.process, e.rank, e.gpu, e.hostname, e.n, e.amount_ns, e.slower_pct, e.last_pct, e.gpus, e.median_ns, e.excess_ns,
        CAST(100 AS DOUBLE) * e.excess_ns / NULLIF(e.span_ns, CAST(0 AS DOUBLE)) AS excess_pct,
        CASE WHEN e.gpus > 2 THEN e.excess_ns / NULLIF(s.spread_ns, CAST(0 AS DOUBLE)) END AS z
    FROM excesses AS e
    JOIN spreads AS s ON s.n = e.n
)
SELECT
    rank,
    gpu,
    hostname,
    CASE WHEN n = 0 THEN 'compute' WHEN n = 1 THEN 'slow_kernels' WHEN n = 2 THEN 'more_work' WHEN n = 3 THEN 'idle' ELSE 'late' END AS what,
    amount_ns,
    median_ns,
    excess_ns,
    excess_pct,
    z,
    gpus,
    slower_pct,
    last_pct
FROM rated
WHERE excess_ns > CAST(0 AS DOUBLE) AND excess_pct >= CAST({{ min_pct }} AS DOUBLE) AND (z IS NULL OR z >= CAST({{ min_z }} AS DOUBLE))
{{ order_by('-excess_ns, rank, process, gpu, n') }}
