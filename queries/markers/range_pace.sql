-- title: Range duration stability
-- about: Duration, jitter, trend and outliers of repeating ROCTx ranges over the iterations of each path on its thread, and the trend of the work launched in them, from its first start to its last end on the GPU, by its parts. Most time first.
-- kind: pace
-- needs: ranges
-- local: summed gpu_summed
-- by:
-- dimensions:
-- param: min_iterations int = 3 -- paths with fewer iterations are left out
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
-- column: drift_errors number -- the slope in its standard errors
-- column: outliers count -- further from the median than five scaled distances and a twentieth of the median
-- column: max_ns ns -- longest
-- column: worst_iteration count -- its ordinal
-- column: gpu_ns ns -- median sum of the durations of what was launched in one
-- column: gpu_iterations count -- iterations that launched work
-- column: gpu_span_ns ns -- median time from the first start to the last end of that work
-- column: gpu_drift_pct pct -- least-squares slope of that time without its outliers, over all iterations, of the median; the four parts below add up to it
-- column: more_work_pct pct -- the part by more or larger work: kernels and copies at the median duration of the same work
-- column: clock_pct pct -- the part by the clock during the kernels, if their time scales with it, at most what the same work takes longer; null if the clock is not sampled
-- column: slower_pct pct -- the part by the same work that takes longer for another reason
-- column: waiting_pct pct -- the part by time in which none of this work runs, less the time in which several run at once
-- column: gpu_drift_errors number -- the slope of the GPU time in its standard errors
{%- set one = 'CAST(1 AS DOUBLE)' %}
{%- set zero = 'CAST(0 AS DOUBLE)' %}
{%- set path_keys = 'process, thread, kind, path' %}
{%- set of_path = 'm.process = k.process AND m.thread = k.thread AND m.kind = k.kind AND m.path = k.path' %}
{%- macro slope(xy, y) -%}
(n * {{ xy }} - x * {{ y }}) / NULLIF(n * xx - x * x, {{ zero }})
{%- endmacro %}
{#- The slope over its standard error. Residuals are at least two ticks of the clock that stamps dispatches. -#}
{%- macro in_errors(slope) -%}
CASE WHEN n > CAST(2 AS DOUBLE) THEN {{ slope }} * SQRT(xx - x * x / n) / SQRT(
            CASE
                WHEN yy - y * y / n - {{ slope }} * (xy - x * y / n) > CAST(400 AS DOUBLE) * (n - CAST(2 AS DOUBLE))
                THEN (yy - y * y / n - {{ slope }} * (xy - x * y / n)) / (n - CAST(2 AS DOUBLE))
                ELSE CAST(400 AS DOUBLE)
            END
        ) END
{%- endmacro %}
{%- macro of_all(slope, median) -%}
CAST(100 AS DOUBLE) * {{ slope }} * CAST(s.iterations - 1 AS DOUBLE) / NULLIF({{ median }}, {{ zero }})
{%- endmacro %}
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
        CAST(kernel_ns + copy_ns AS DOUBLE) AS gpu,
        CAST(copy_ns AS DOUBLE) AS copies,
        CAST(gpu_end_ns - gpu_start_ns AS DOUBLE) AS elapsed,
        CAST(usual_ns AS DOUBLE) AS usual,
        clock_mhz
    FROM ranges
),
keyed AS (
    SELECT
        process, rank, tid,
        COALESCE(tid, -1) AS thread,
        kind, path, iteration, place, duration_ns, duration, gpu, copies, elapsed, usual, clock_mhz,
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
        {{ path_keys }},
        COUNT(*) AS iterations,
        MEDIAN(duration) AS median_ns,
        MEDIAN(elapsed) AS elapsed_ns,
        AVG(clock_mhz) AS mean_mhz
    FROM keyed
    GROUP BY {{ path_keys }}
),
distant AS (
    SELECT
        k.process, k.rank, k.tid, k.thread, k.kind, k.path, k.iteration, k.place, k.duration_ns, k.gpu,
        k.pace, k.place_first, k.place_longest, m.iterations, m.median_ns, k.elapsed, m.elapsed_ns, m.mean_mhz, k.usual,
        k.duration - m.median_ns AS beyond,
        ABS(k.duration - m.median_ns) AS distance,
        ABS(k.elapsed - m.elapsed_ns) AS gpu_distance,
        -- The time of copies does not follow the clock.
        CASE
            WHEN k.clock_mhz IS NULL OR m.mean_mhz IS NULL THEN k.gpu
            ELSE k.copies + (k.gpu - k.copies) * k.clock_mhz / m.mean_mhz
        END AS at_clock
    FROM keyed AS k
    JOIN middle AS m ON {{ of_path }}
    WHERE m.iterations >= {{ min_iterations }}
),
spread AS (
    SELECT {{ path_keys }}, MEDIAN(distance) AS mad_ns, MEDIAN(gpu_distance) AS gpu_mad_ns
    FROM distant
    GROUP BY {{ path_keys }}
),
flagged AS (
    SELECT
        k.process, k.rank, k.tid, k.thread, k.kind, k.path, k.iteration, k.place, k.duration_ns, k.gpu, k.pace,
        k.place_first, k.place_longest, k.median_ns, m.mad_ns, k.beyond, k.elapsed, k.elapsed_ns, k.mean_mhz, k.usual, k.at_clock,
        CASE
            WHEN k.distance > CAST(7413 AS DOUBLE) / CAST(1000 AS DOUBLE) * m.mad_ns
                AND k.distance > k.median_ns / CAST(20 AS DOUBLE) THEN 1
            ELSE 0
        END AS outlier,
        CASE
            WHEN k.gpu_distance > CAST(7413 AS DOUBLE) / CAST(1000 AS DOUBLE) * m.gpu_mad_ns
                AND k.gpu_distance > k.elapsed_ns / CAST(20 AS DOUBLE) THEN 1
            ELSE 0
        END AS gpu_outlier
    FROM distant AS k
    JOIN spread AS m ON {{ of_path }}
),
-- A line through what is no outlier, which would bend it.
summed AS (
    SELECT
        process, rank, tid, thread, kind, path,
        CAST(COUNT(*) AS BIGINT) AS iterations,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        MAX(CASE WHEN place_first = 1 THEN duration_ns END) AS first_ns,
        MIN(median_ns) AS median_ns,
        MIN(mad_ns) AS mad_ns,
        MEDIAN(pace) AS pace_ns,
        SUM(CASE WHEN outlier = 0 THEN {{ one }} ELSE {{ zero }} END) AS n,
        SUM(CASE WHEN outlier = 0 THEN place ELSE {{ zero }} END) AS x,
        SUM(CASE WHEN outlier = 0 THEN beyond ELSE {{ zero }} END) AS y,
        SUM(CASE WHEN outlier = 0 THEN place * beyond ELSE {{ zero }} END) AS xy,
        SUM(CASE WHEN outlier = 0 THEN place * place ELSE {{ zero }} END) AS xx,
        SUM(CASE WHEN outlier = 0 THEN beyond * beyond ELSE {{ zero }} END) AS yy,
        CAST(SUM(outlier) AS BIGINT) AS outliers,
        MAX(duration_ns) AS max_ns,
        MAX(CASE WHEN place_longest = 1 THEN iteration END) AS worst_iteration,
        MEDIAN(gpu) AS gpu_ns,
        CAST(COUNT(elapsed) AS BIGINT) AS gpu_iterations
    FROM flagged
    GROUP BY process, rank, tid, thread, kind, path
),
gpu_summed AS (
    SELECT
        {{ path_keys }},
        MIN(elapsed_ns) AS elapsed_ns,
        MIN(mean_mhz) AS mean_mhz,
        CAST(COUNT(*) AS DOUBLE) AS n,
        SUM(place) AS x,
        SUM(place * place) AS xx,
        SUM(elapsed - elapsed_ns) AS y,
        SUM(place * (elapsed - elapsed_ns)) AS xy,
        SUM((elapsed - elapsed_ns) * (elapsed - elapsed_ns)) AS yy,
        SUM(usual) AS usual_y,
        SUM(place * usual) AS usual_xy,
        SUM(gpu - at_clock) AS clock_y,
        SUM(place * (gpu - at_clock)) AS clock_xy,
        SUM(at_clock - usual) AS slower_y,
        SUM(place * (at_clock - usual)) AS slower_xy,
        SUM(elapsed - gpu) AS waiting_y,
        SUM(place * (elapsed - gpu)) AS waiting_xy
    FROM flagged
    WHERE elapsed IS NOT NULL AND gpu_outlier = 0
    GROUP BY {{ path_keys }}
),
sloped AS (
    SELECT
        process, rank, tid, thread, kind, path, iterations, total_ns, first_ns, median_ns, mad_ns, pace_ns,
        {{ slope('xy', 'y') }} AS trend_ns,
        n, x, y, xy, xx, yy,
        outliers, max_ns, worst_iteration, gpu_ns, gpu_iterations
    FROM summed
),
gpu_sloped AS (
    SELECT
        {{ path_keys }}, elapsed_ns, mean_mhz, n, x, y, xy, xx, yy,
        {{ slope('xy', 'y') }} AS trend,
        {{ slope('usual_xy', 'usual_y') }} AS usual_trend,
        {{ slope('clock_xy', 'clock_y') }} AS clock_trend,
        {{ slope('slower_xy', 'slower_y') }} AS slower_trend,
        {{ slope('waiting_xy', 'waiting_y') }} AS waiting_trend
    FROM gpu_summed
),
-- Work that hardly follows the clock rises by less than the clock explains.
gpu_rated AS (
    SELECT
        {{ path_keys }}, elapsed_ns, mean_mhz, trend, usual_trend, waiting_trend,
        CASE
            WHEN clock_trend * (clock_trend + slower_trend) <= {{ zero }} THEN {{ zero }}
            WHEN ABS(clock_trend) > ABS(clock_trend + slower_trend) THEN clock_trend + slower_trend
            ELSE clock_trend
        END AS clock_part,
        CASE
            WHEN clock_trend * (clock_trend + slower_trend) <= {{ zero }} THEN clock_trend + slower_trend
            WHEN ABS(clock_trend) > ABS(clock_trend + slower_trend) THEN {{ zero }}
            ELSE slower_trend
        END AS slower_part,
        {{ in_errors('trend') }} AS errors
    FROM gpu_sloped
),
rated AS (
    SELECT
        process, rank, tid, thread, kind, path, iterations, total_ns, first_ns, median_ns, mad_ns, pace_ns, trend_ns,
        {{ in_errors('trend_ns') }} AS errors,
        outliers, max_ns, worst_iteration, gpu_ns, gpu_iterations
    FROM sloped
)
SELECT
    s.rank,
    s.tid,
    s.path,
    s.iterations,
    s.total_ns,
    s.first_ns,
    s.median_ns,
    s.mad_ns,
    CAST(100 AS DOUBLE) * s.mad_ns / NULLIF(s.median_ns, {{ zero }}) AS jitter_pct,
    s.pace_ns,
    s.trend_ns,
    {{ of_all('s.trend_ns', 's.median_ns') }} AS drift_pct,
    s.errors AS drift_errors,
    s.outliers,
    s.max_ns,
    s.worst_iteration,
    s.gpu_ns,
    s.gpu_iterations,
    m.elapsed_ns AS gpu_span_ns,
    {{ of_all('m.trend', 'm.elapsed_ns') }} AS gpu_drift_pct,
    {{ of_all('m.usual_trend', 'm.elapsed_ns') }} AS more_work_pct,
    CASE WHEN m.mean_mhz IS NOT NULL THEN {{ of_all('m.clock_part', 'm.elapsed_ns') }} END AS clock_pct,
    {{ of_all('m.slower_part', 'm.elapsed_ns') }} AS slower_pct,
    {{ of_all('m.waiting_trend', 'm.elapsed_ns') }} AS waiting_pct,
    m.errors AS gpu_drift_errors
FROM rated AS s
LEFT JOIN gpu_rated AS m ON m.process = s.process AND m.thread = s.thread AND m.kind = s.kind AND m.path = s.path
ORDER BY
    s.total_ns DESC NULLS LAST,
    s.rank NULLS FIRST,
    s.process NULLS FIRST,
    s.tid NULLS FIRST,
    s.kind NULLS FIRST,
    s.path NULLS FIRST
{%- if top > 0 %}
LIMIT {{ top }}
{%- endif %}
