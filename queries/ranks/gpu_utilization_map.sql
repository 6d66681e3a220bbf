-- title: GPU utilization map
-- about: Busy share of every GPU over time, in equal bins from the first to the last GPU activity of its process: one heat map row per GPU. Times start at the first activity of each process; after --align, at the earliest of the processes on one clock.
-- kind: heatmap
-- plot: heatmap row=rank,gpu bin=bin value=busy_pct from=begin_ns length=length_ns
-- needs: gpu_segments processes clocks
-- grid: grids
-- by:
-- dimensions:
-- param: bins int = 20 [1, 10000] -- bins of the longest activity of a process
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: device id -- physical GPU
-- column: bin id -- number of the bin, from 0
-- column: begin_ns ns -- its start
-- column: length_ns ns -- its length; the last bin of a process ends with its activity
-- column: busy_ns ns -- time in it with at least one kernel or copy running
-- column: busy_pct pct -- busy_ns as a share of the length
-- column: compute_pct pct -- time with a compute kernel
-- column: comm_pct pct -- time with a communication kernel
-- column: copy_pct pct -- time with a copy
-- column: exposed_comm_pct pct -- time with a communication kernel and no compute kernel; the rest of comm_pct is hidden
-- column: axis text -- own start, or aligned
WITH extents AS (
    SELECT process, MIN(start_ns) AS first_ns, MAX(end_ns) AS last_ns
    FROM gpu_segments
    GROUP BY process
),
alive AS (
    SELECT
        p.process, c.clock, c.offset_ns,
        CASE WHEN c.basis = 'recorded' THEN 0 ELSE 1 END AS aligned,
        e.first_ns AS start_ns,
        e.last_ns AS end_ns
    FROM processes AS p
    JOIN extents AS e ON e.process = p.process
    JOIN clocks AS c ON c.process = p.process
    WHERE p.role = 'trace'
),
of_clock AS (
    SELECT
        process, aligned, start_ns, end_ns,
        MIN(start_ns + offset_ns) OVER (PARTITION BY clock) - offset_ns AS clock_start_ns
    FROM alive
),
origins AS (
    SELECT
        process, aligned, end_ns,
        CASE WHEN aligned = 1 THEN clock_start_ns ELSE start_ns END AS origin_ns
    FROM of_clock
),
-- Edges are whole nanoseconds, so that bins add up.
longest AS (
    SELECT MAX(end_ns - origin_ns) AS time_ns, 0 * MAX(process) + {{ bins }} AS bin_count
    FROM origins
),
widths AS (
    SELECT CEIL(CAST(time_ns AS DOUBLE) / CAST(bin_count AS DOUBLE)) AS width
    FROM longest
),
grid AS (
    SELECT CASE WHEN width < CAST(1 AS DOUBLE) THEN 1 ELSE CAST(width AS BIGINT) END AS length_ns
    FROM widths
),
grids AS (
    SELECT o.process, o.aligned, o.origin_ns, o.end_ns, g.length_ns
    FROM origins AS o
    CROSS JOIN grid AS g
),
placed AS (
    SELECT
        s.process, s.gpu, s.start_ns, s.end_ns, s.compute, s.comm, s.copies, g.origin_ns, g.length_ns,
        CAST(FLOOR(CAST(s.start_ns - g.origin_ns AS DOUBLE) / CAST(g.length_ns AS DOUBLE)) AS BIGINT) AS first_bin,
        CAST(FLOOR(CAST(s.end_ns - g.origin_ns - 1 AS DOUBLE) / CAST(g.length_ns AS DOUBLE)) AS BIGINT) AS last_bin
    FROM gpu_segments AS s
    JOIN grids AS g ON g.process = s.process
    WHERE s.duration_ns > 0 AND (s.compute > 0 OR s.comm > 0 OR s.copies > 0)
),
crossing AS (
    SELECT process, gpu, start_ns, end_ns, compute, comm, copies, origin_ns, length_ns, first_bin, last_bin
    FROM placed
    WHERE first_bin < last_bin
),
edges AS (
    SELECT n
    FROM numbers
    WHERE n < {{ bins }}
),
-- Few segments cross an edge: only those are looked for in every bin.
parted AS (
    SELECT process, gpu, start_ns, end_ns, compute, comm, copies, origin_ns, length_ns, n AS bin
    FROM crossing
    CROSS JOIN edges
    WHERE CASE WHEN n < first_bin OR n > last_bin THEN 0 ELSE 1 END = 1
),
cut AS (
    SELECT
        process, gpu, bin, compute, comm, copies,
        LEAST(end_ns, origin_ns + (bin + 1) * length_ns) - GREATEST(start_ns, origin_ns + bin * length_ns) AS piece_ns
    FROM parted
),
uncut AS (
    SELECT process, gpu, first_bin AS bin, compute, comm, copies, end_ns - start_ns AS piece_ns
    FROM placed
    WHERE first_bin = last_bin
),
pieces AS (
    {%- for parts in ['uncut', 'cut'] %}
    SELECT
        process, gpu, bin,
        CAST(SUM(piece_ns) AS BIGINT) AS busy_ns,
        {{ sum_if('compute > 0', 'piece_ns') }} AS compute_ns,
        {{ sum_if('comm > 0', 'piece_ns') }} AS comm_ns,
        {{ sum_if('copies > 0', 'piece_ns') }} AS copy_ns,
        {{ sum_if('comm > 0 AND compute = 0', 'piece_ns') }} AS exposed_comm_ns
    FROM {{ parts }}
    GROUP BY process, gpu, bin
    {{- '\n    UNION ALL' if not loop.last }}
    {%- endfor %}
),
summed AS (
    SELECT
        process, gpu, bin,
        {{ sums('busy_ns, compute_ns, comm_ns, copy_ns, exposed_comm_ns') }}
    FROM pieces
    GROUP BY process, gpu, bin
),
gpus AS (
    SELECT process, rank, gpu, MAX(device) AS device
    FROM gpu_segments
    GROUP BY process, rank, gpu
),
cells AS (
    SELECT
        u.process, u.rank, u.gpu, u.device, g.aligned,
        e.n AS bin,
        e.n * g.length_ns AS begin_ns,
        -- The last bin ends with the activity.
        LEAST(g.length_ns, GREATEST(g.end_ns - g.origin_ns - e.n * g.length_ns, 1)) AS length_ns
    FROM gpus AS u
    JOIN grids AS g ON g.process = u.process
    CROSS JOIN edges AS e
    WHERE CASE WHEN e.n = 0 OR e.n * g.length_ns < g.end_ns - g.origin_ns THEN 1 ELSE 0 END = 1
),
filled AS (
    SELECT
        c.process, c.rank, c.gpu, c.device, c.aligned, c.bin, c.begin_ns, c.length_ns,
        CAST(COALESCE(s.busy_ns, 0) AS BIGINT) AS busy_ns,
        CAST(COALESCE(s.compute_ns, 0) AS BIGINT) AS compute_ns,
        CAST(COALESCE(s.comm_ns, 0) AS BIGINT) AS comm_ns,
        CAST(COALESCE(s.copy_ns, 0) AS BIGINT) AS copy_ns,
        CAST(COALESCE(s.exposed_comm_ns, 0) AS BIGINT) AS exposed_comm_ns
    FROM cells AS c
    LEFT JOIN summed AS s ON s.process = c.process AND s.gpu = c.gpu AND s.bin = c.bin
)
SELECT
    rank,
    gpu,
    device,
    bin,
    begin_ns,
    length_ns,
    busy_ns,
    {%- for part in ['busy', 'compute', 'comm', 'copy', 'exposed_comm'] %}
    CAST(100 AS DOUBLE) * CAST({{ part }}_ns AS DOUBLE) / CAST(length_ns AS DOUBLE) AS {{ part }}_pct,
    {%- endfor %}
    CASE WHEN aligned = 1 THEN 'aligned' ELSE 'own start' END AS axis
FROM filled
ORDER BY rank NULLS FIRST, process NULLS FIRST, gpu NULLS FIRST, bin NULLS FIRST
