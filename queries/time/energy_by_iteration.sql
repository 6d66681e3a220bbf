-- title: Energy by iteration
-- about: Energy of the GPUs of each process in each iteration where their power was sampled: the power of a sample counts until the next one of its track. Of several tracks of a GPU the one with most energy counts. Iterations that no sample reaches have no row.
-- kind: pace
-- plot: pace line=rank x=iteration y=energy_j
-- needs: iterations samples
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: process id -- process
-- column: iteration id -- ordinal of the repetition, from 0
-- column: phase text -- warmup, steady or cooldown
-- column: duration_ns ns -- length of the iteration
-- column: gpus count -- GPUs with sampled power
-- column: sampled_ns ns -- time of it for which the power is known, added up over the GPUs
-- column: energy_j number -- energy in that time, in joules
-- column: mean_w number -- energy over sampled_ns: mean power of a GPU in watts
{%- set lane = 'PARTITION BY process, device, track ORDER BY time_ns NULLS FIRST, edge NULLS FIRST, iteration NULLS FIRST' %}
WITH power AS (
    SELECT
        process, device, CAST(track AS VARCHAR) || ' ' || CAST(name AS VARCHAR) AS track, time_ns,
        value * CASE
            WHEN LOWER(CAST(unit AS VARCHAR)) IN ('mw', 'milliwatts') THEN CAST(0.001 AS DOUBLE)
            WHEN LOWER(CAST(unit AS VARCHAR)) IN ('uw', 'µw', 'microwatts') THEN CAST(0.000001 AS DOUBLE)
            ELSE CAST(1 AS DOUBLE)
        END AS watts
    FROM samples
    WHERE device IS NOT NULL AND value IS NOT NULL
        AND LOWER(CAST(unit AS VARCHAR)) IN ('w', 'watt', 'watts', 'mw', 'milliwatts', 'uw', 'µw', 'microwatts')
        AND LOWER(CAST(name AS VARCHAR)) NOT LIKE '%cap%' AND LOWER(CAST(name AS VARCHAR)) NOT LIKE '%limit%'
        AND LOWER(CAST(name AS VARCHAR)) NOT LIKE '%max%' AND LOWER(CAST(name AS VARCHAR)) NOT LIKE '%default%'
),
held AS (
    SELECT
        process, device, track, time_ns, watts,
        LEAD(time_ns) OVER (PARTITION BY process, device, track ORDER BY time_ns NULLS FIRST, watts NULLS FIRST) AS end_ns,
        CAST(ROW_NUMBER() OVER (PARTITION BY process, device, track ORDER BY time_ns NULLS FIRST, watts NULLS FIRST) AS BIGINT) AS place
    FROM power
),
series AS (
    SELECT process, device, track, MIN(time_ns) AS from_ns, MAX(time_ns) AS to_ns
    FROM held
    GROUP BY process, device, track
),
-- Energy before an edge is that of all samples before it, less what the last of them has after it.
events AS (
    SELECT
        process, device, track, time_ns, 0 AS edge, 0 AS iteration, place,
        watts * CAST(end_ns - time_ns AS DOUBLE) AS energy_nj
    FROM held
    WHERE end_ns IS NOT NULL
    UNION ALL
    SELECT
        i.process, s.device, s.track, GREATEST(LEAST(i.start_ns, s.to_ns), s.from_ns) AS time_ns, 1 AS edge, i.iteration,
        CAST(NULL AS BIGINT) AS place, CAST(0 AS DOUBLE) AS energy_nj
    FROM iterations AS i
    JOIN series AS s ON s.process = i.process
    UNION ALL
    SELECT
        i.process, s.device, s.track, GREATEST(LEAST(i.end_ns, s.to_ns), s.from_ns) AS time_ns, 2 AS edge, i.iteration,
        CAST(NULL AS BIGINT) AS place, CAST(0 AS DOUBLE) AS energy_nj
    FROM iterations AS i
    JOIN series AS s ON s.process = i.process
),
reached AS (
    SELECT
        process, device, track, time_ns, edge, iteration,
        MAX(place) OVER ({{ lane }} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS place,
        SUM(energy_nj) OVER ({{ lane }} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS energy_nj
    FROM events
),
edges AS (
    SELECT
        r.process, r.device, r.track, r.edge, r.iteration, r.time_ns,
        r.energy_nj - h.watts * CAST(CASE WHEN h.end_ns > r.time_ns THEN h.end_ns - r.time_ns ELSE 0 END AS DOUBLE) AS energy_nj
    FROM reached AS r
    JOIN held AS h ON h.process = r.process AND h.device = r.device AND h.track = r.track AND h.place = r.place
    WHERE r.edge > 0
),
of_tracks AS (
    SELECT
        process, device, track, iteration,
        CAST(SUM(CASE WHEN edge = 2 THEN time_ns ELSE -time_ns END) AS BIGINT) AS sampled_ns,
        SUM(CASE WHEN edge = 2 THEN energy_nj ELSE -energy_nj END) AS energy_nj
    FROM edges
    GROUP BY process, device, track, iteration
),
ranked AS (
    SELECT
        process, iteration, sampled_ns, energy_nj,
        ROW_NUMBER() OVER (
            PARTITION BY process, device, iteration ORDER BY -energy_nj NULLS LAST, sampled_ns NULLS LAST, track NULLS LAST
        ) AS place
    FROM of_tracks
    WHERE sampled_ns > 0
),
summed AS (
    SELECT
        process, iteration,
        CAST(COUNT(*) AS BIGINT) AS gpus,
        {{ sums('sampled_ns') }},
        SUM(energy_nj) AS energy_nj
    FROM ranked
    WHERE place = 1
    GROUP BY process, iteration
)
SELECT
    i.rank,
    i.process,
    i.iteration,
    CAST(i.phase AS VARCHAR) AS phase,
    i.duration_ns,
    s.gpus,
    s.sampled_ns,
    s.energy_nj / CAST(1000000000 AS DOUBLE) AS energy_j,
    s.energy_nj / CAST(s.sampled_ns AS DOUBLE) AS mean_w
FROM summed AS s
JOIN iterations AS i ON i.process = s.process AND i.iteration = s.iteration
{{ order_by('i.rank, i.process, i.iteration') }}
