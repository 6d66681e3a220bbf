-- title: Pace of ranges
-- about: Whether the ROCTx ranges that repeat keep their rhythm: duration, jitter, trend and outliers over the iterations of each path on its thread, most time first.
-- kind: pace
-- needs: ranges
-- local: summed
-- by:
-- dimensions:
-- param: least int = 3 -- paths with fewer iterations are left out
-- param: top int = 0 -- first N rows, 0 = all
-- column: rank id -- rank
-- column: tid id -- thread; none for ranges of the process
-- column: path text -- messages from the outermost range to this one
-- column: iterations count -- ranges of this path
-- column: total_ns ns -- sum of their times on the host
-- column: first_ns ns -- time of the first
-- column: median_ns ns -- median time on the host
-- column: mad_ns ns -- median distance from the median
-- column: jitter_pct pct -- that distance of the median
-- column: pace_ns ns -- median time from one start to the next
-- column: trend_ns ns -- time added with each iteration: least-squares slope without the outliers
-- column: drift_pct pct -- that slope over all iterations, of the median
-- column: outliers count -- further from the median than five scaled distances and a twentieth of the median
-- column: max_ns ns -- longest
-- column: worst_iteration count -- its ordinal
-- column: gpu_ns ns -- median sum of the durations of what was launched in one
WITH paced AS (
    SELECT
        process, rank,
        CASE WHEN kind = 'thread' THEN tid END AS tid,
        CAST(kind AS VARCHAR) AS kind,
        path, iteration,
        CAST(iteration AS DOUBLE) AS place,
        duration_ns,
        CAST(duration_ns AS DOUBLE) AS duration,
        start_ns,
        CAST(kernel_ns + copy_ns AS DOUBLE) AS gpu
    FROM ranges
),
keyed AS (
    SELECT
        process, rank, tid,
        COALESCE(tid, -1) AS thread,
        kind, path, iteration, place, duration_ns, duration, gpu,
        CAST(start_ns - LAG(start_ns) OVER (
            PARTITION BY process, kind, tid, path
            ORDER BY iteration NULLS FIRST
        ) AS DOUBLE) AS pace,
        ROW_NUMBER() OVER (
            PARTITION BY process, kind, tid, path
            ORDER BY iteration NULLS FIRST
        ) AS place_first,
        ROW_NUMBER() OVER (
            PARTITION BY process, kind, tid, path
            ORDER BY -duration_ns NULLS LAST, iteration NULLS LAST
        ) AS place_longest
    FROM paced
),
middle AS (
    SELECT
        process, thread, kind, path,
        COUNT(*) AS iterations,
        MEDIAN(duration) AS median_ns
    FROM keyed
    GROUP BY process, thread, kind, path
),
distant AS (
    SELECT
        k.process, k.rank, k.tid, k.thread, k.kind, k.path, k.iteration, k.place, k.duration_ns, k.gpu,
        k.pace, k.place_first, k.place_longest, m.iterations, m.median_ns,
        k.duration - m.median_ns AS beyond,
        ABS(k.duration - m.median_ns) AS distance
    FROM keyed AS k
    JOIN middle AS m ON m.process = k.process AND m.thread = k.thread AND m.kind = k.kind AND m.path = k.path
    WHERE m.iterations >= {{ least }}
),
spread AS (
    SELECT process, thread, kind, path, MEDIAN(distance) AS mad_ns
    FROM distant
    GROUP BY process, thread, kind, path
),
flagged AS (
    SELECT
        d.process, d.rank, d.tid, d.kind, d.path, d.iteration, d.place, d.duration_ns, d.gpu, d.pace,
        d.place_first, d.place_longest, d.median_ns, s.mad_ns, d.beyond,
        CASE
            WHEN d.distance > CAST(7413 AS DOUBLE) / CAST(1000 AS DOUBLE) * s.mad_ns
                AND d.distance > d.median_ns / CAST(20 AS DOUBLE) THEN 1
            ELSE 0
        END AS outlier
    FROM distant AS d
    JOIN spread AS s ON s.process = d.process AND s.thread = d.thread AND s.kind = d.kind AND s.path = d.path
),
-- A line through what is no outlier, which would bend it.
summed AS (
    SELECT
        process, rank, tid, kind, path,
        CAST(COUNT(*) AS BIGINT) AS iterations,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        MAX(CASE WHEN place_first = 1 THEN duration_ns END) AS first_ns,
        MIN(median_ns) AS median_ns,
        MIN(mad_ns) AS mad_ns,
        MEDIAN(pace) AS pace_ns,
        SUM(CASE WHEN outlier = 0 THEN CAST(1 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END) AS n,
        SUM(CASE WHEN outlier = 0 THEN place ELSE CAST(0 AS DOUBLE) END) AS x,
        SUM(CASE WHEN outlier = 0 THEN beyond ELSE CAST(0 AS DOUBLE) END) AS y,
        SUM(CASE WHEN outlier = 0 THEN place * beyond ELSE CAST(0 AS DOUBLE) END) AS xy,
        SUM(CASE WHEN outlier = 0 THEN place * place ELSE CAST(0 AS DOUBLE) END) AS xx,
        CAST(SUM(outlier) AS BIGINT) AS outliers,
        MAX(duration_ns) AS max_ns,
        MAX(CASE WHEN place_longest = 1 THEN iteration END) AS worst_iteration,
        MEDIAN(gpu) AS gpu_ns
    FROM flagged
    GROUP BY process, rank, tid, kind, path
),
sloped AS (
    SELECT
        process, rank, tid, kind, path, iterations, total_ns, first_ns, median_ns, mad_ns, pace_ns,
        (n * xy - x * y) / NULLIF(n * xx - x * x, CAST(0 AS DOUBLE)) AS trend_ns,
        outliers, max_ns, worst_iteration, gpu_ns
    FROM summed
)
SELECT
    rank,
    tid,
    path,
    iterations,
    total_ns,
    first_ns,
    median_ns,
    mad_ns,
    CAST(100 AS DOUBLE) * mad_ns / NULLIF(median_ns, CAST(0 AS DOUBLE)) AS jitter_pct,
    pace_ns,
    trend_ns,
    CAST(100 AS DOUBLE) * trend_ns * CAST(iterations - 1 AS DOUBLE) / NULLIF(median_ns, CAST(0 AS DOUBLE)) AS drift_pct,
    outliers,
    max_ns,
    worst_iteration,
    gpu_ns
FROM sloped
ORDER BY
    total_ns DESC NULLS LAST,
    rank NULLS FIRST,
    process NULLS FIRST,
    tid NULLS FIRST,
    kind NULLS FIRST,
    path NULLS FIRST
{%- if top > 0 %}
LIMIT {{ top }}
{%- endif %}
