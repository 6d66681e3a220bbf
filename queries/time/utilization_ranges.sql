-- title: Stretches of low utilization
-- about: Stretches of time in which a GPU is less busy than a limit: equal bins from the first to the last activity of its process, and bins below the limit that follow one another as one row. Most idle time first. Times start at the first activity of each process.
-- kind: summary
-- needs: gpu_segments
-- by:
-- dimensions:
-- param: bins int = 100 [1, 10000] -- bins of the activity of each process
-- param: low_pct float = 50 [0, 100] -- busy share of a bin below which it counts
-- param: top int = 0 -- first N stretches, 0 = all
-- column: rank id -- rank
-- column: process id -- process
-- column: gpu id -- GPU of the process
-- column: device id -- physical GPU
-- column: begin_ns ns -- start of the stretch
-- column: length_ns ns -- its length
-- column: bins count -- its bins
-- column: busy_ns ns -- time in it with at least one kernel or copy running
-- column: idle_ns ns -- the rest
-- column: busy_pct pct -- busy_ns as a share of the length
{%- set lane = 'PARTITION BY process, gpu ORDER BY time_ns NULLS FIRST, is_edge NULLS FIRST, bin NULLS FIRST' %}
WITH extents AS (
    SELECT process, MIN(start_ns) AS from_ns, MAX(end_ns) AS to_ns, 0 * MAX(process) + {{ bins }} AS bin_count
    FROM gpu_segments
    GROUP BY process
),
widths AS (
    SELECT process, from_ns, to_ns, CEIL(CAST(to_ns - from_ns AS DOUBLE) / CAST(bin_count AS DOUBLE)) AS width
    FROM extents
),
grids AS (
    SELECT process, from_ns, to_ns, CASE WHEN width < CAST(1 AS DOUBLE) THEN 1 ELSE CAST(width AS BIGINT) END AS length_ns
    FROM widths
),
edges AS (
    SELECT n
    FROM numbers
    WHERE n < {{ bins + 1 }}
),
gpus AS (
    SELECT process, rank, gpu, MAX(device) AS device
    FROM gpu_segments
    GROUP BY process, rank, gpu
),
places AS (
    SELECT
        u.process, u.gpu,
        e.n AS bin,
        LEAST(g.from_ns + e.n * g.length_ns, g.to_ns) AS time_ns
    FROM gpus AS u
    JOIN grids AS g ON g.process = u.process
    CROSS JOIN edges AS e
    WHERE CASE WHEN e.n = 0 OR (e.n - 1) * g.length_ns < g.to_ns - g.from_ns THEN 1 ELSE 0 END = 1
),
-- Busy time before an edge is that of all segments before it, less what the last of them has after it.
events AS (
    SELECT process, gpu, start_ns AS time_ns, 0 AS is_edge, CAST(NULL AS BIGINT) AS bin, duration_ns AS busy_ns, end_ns AS busy_end_ns
    FROM gpu_segments
    WHERE {{ during['busy'] }}
    UNION ALL
    SELECT process, gpu, time_ns, 1 AS is_edge, bin, 0 AS busy_ns, CAST(NULL AS BIGINT) AS busy_end_ns
    FROM places
),
reached AS (
    SELECT
        process, gpu, time_ns, is_edge, bin,
        SUM(busy_ns) OVER ({{ lane }} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS busy_ns,
        MAX(busy_end_ns) OVER ({{ lane }} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS busy_end_ns
    FROM events
),
before_edges AS (
    SELECT
        process, gpu, bin, time_ns,
        busy_ns - CASE WHEN busy_end_ns > time_ns THEN busy_end_ns - time_ns ELSE 0 END AS busy_ns
    FROM reached
    WHERE is_edge = 1
),
cells AS (
    SELECT
        process, gpu,
        bin - 1 AS bin,
        LAG(time_ns) OVER (PARTITION BY process, gpu ORDER BY bin NULLS FIRST) AS start_ns,
        time_ns AS end_ns,
        busy_ns - LAG(busy_ns) OVER (PARTITION BY process, gpu ORDER BY bin NULLS FIRST) AS busy_ns
    FROM before_edges
),
low AS (
    SELECT
        process, gpu, bin, start_ns, end_ns, busy_ns,
        bin - CAST(ROW_NUMBER() OVER (PARTITION BY process, gpu ORDER BY bin NULLS FIRST) AS BIGINT) AS stretch
    FROM cells
    WHERE CAST(100 AS DOUBLE) * CAST(busy_ns AS DOUBLE) < CAST({{ low_pct }} AS DOUBLE) * CAST(end_ns - start_ns AS DOUBLE)
),
stretches AS (
    SELECT
        process, gpu, stretch,
        MIN(start_ns) AS start_ns,
        MAX(end_ns) AS end_ns,
        CAST(COUNT(*) AS BIGINT) AS bins,
        {{ sums('busy_ns') }}
    FROM low
    GROUP BY process, gpu, stretch
)
SELECT
    u.rank,
    u.process,
    u.gpu,
    u.device,
    s.start_ns - g.from_ns AS begin_ns,
    s.end_ns - s.start_ns AS length_ns,
    s.bins,
    s.busy_ns,
    s.end_ns - s.start_ns - s.busy_ns AS idle_ns,
    {{ percent('s.busy_ns', 's.end_ns - s.start_ns') }} AS busy_pct
FROM stretches AS s
JOIN grids AS g ON g.process = s.process
JOIN gpus AS u ON u.process = s.process AND u.gpu = s.gpu
ORDER BY
    idle_ns DESC NULLS LAST,
    u.rank NULLS LAST,
    u.process NULLS LAST,
    u.gpu NULLS LAST,
    begin_ns NULLS LAST
{%- if top > 0 %}
LIMIT {{ top }}
{%- endif %}
