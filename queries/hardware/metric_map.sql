-- title: Sampled metrics over time
-- about: Mean of every sampled metric in equal bins from the first to the last sample of its process: one heat map row per metric and GPU. A sample counts as valid until the next one of its track, and each part of that time counts in its bin. Bins without a value have no row.
-- kind: heatmap
-- plot: heatmap row=rank,gpu,track bin=bin value=share_pct from=begin_ns length=length_ns
-- needs: samples agents processes
-- by:
-- dimensions:
-- param: bins int = 20 [1, 10000] -- bins of the sampled time of each process
-- column: rank id -- rank
-- column: process id -- process
-- column: gpu id -- GPU of the process, null for metrics of no GPU
-- column: name name -- metric
-- column: track name -- its track, as recorded
-- column: unit text -- its unit, as recorded
-- column: bin id -- number of the bin, from 0
-- column: begin_ns ns -- its start, from the first sample of the process
-- column: length_ns ns -- its length; the last bin of a process ends with its last sample
-- column: mean number -- mean of the value, weighted by the time for which it was valid
-- column: share_pct pct -- mean as a share of the greatest mean of the track, null when that is not positive
{%- set lane = 'PARTITION BY process, agent_id, name, track, unit ORDER BY time_ns NULLS FIRST, value NULLS FIRST' %}
{%- set track = 'process, rank, agent_id, name, track, unit' %}
WITH valued AS (
    SELECT
        process, rank, agent_id, time_ns, value,
        {{ texts('name, track, unit') }}
    FROM samples
    WHERE value IS NOT NULL
),
{{ bin_grids('valued', start='time_ns', end='time_ns') }},
followed AS (
    SELECT {{ track }}, value, time_ns AS start_ns, LEAD(time_ns) OVER ({{ lane }}) AS end_ns
    FROM valued
),
placed AS (
    SELECT
        f.process, f.rank, f.agent_id, f.name, f.track, f.unit, f.value, f.start_ns, f.end_ns, g.from_ns, g.length_ns,
        CAST(FLOOR(CAST(f.start_ns - g.from_ns AS DOUBLE) / CAST(g.length_ns AS DOUBLE)) AS BIGINT) AS first_bin,
        CAST(FLOOR(CAST(f.end_ns - g.from_ns - 1 AS DOUBLE) / CAST(g.length_ns AS DOUBLE)) AS BIGINT) AS last_bin
    FROM followed AS f
    JOIN grids AS g ON g.process = f.process
    WHERE f.end_ns > f.start_ns
),
edges AS (
    SELECT n
    FROM numbers
    WHERE n < {{ bins }}
),
-- Most samples cross no edge: only the others are looked for in every bin.
crossing AS (
    SELECT {{ track }}, value, start_ns, end_ns, from_ns, length_ns, first_bin, last_bin
    FROM placed
    WHERE first_bin < last_bin
),
cut AS (
    SELECT
        {{ track }}, n AS bin, value,
        LEAST(end_ns, from_ns + (n + 1) * length_ns) - GREATEST(start_ns, from_ns + n * length_ns) AS piece_ns
    FROM crossing
    CROSS JOIN edges
    WHERE CASE WHEN n < first_bin OR n > last_bin THEN 0 ELSE 1 END = 1
),
pieces AS (
    SELECT {{ track }}, bin, value, piece_ns
    FROM cut
    UNION ALL
    SELECT {{ track }}, first_bin AS bin, value, end_ns - start_ns AS piece_ns
    FROM placed
    WHERE first_bin = last_bin
),
cells AS (
    SELECT
        {{ track }}, bin,
        SUM(value * CAST(piece_ns AS DOUBLE)) / NULLIF(CAST(SUM(piece_ns) AS DOUBLE), CAST(0 AS DOUBLE)) AS mean
    FROM pieces
    GROUP BY {{ track }}, bin
),
shared AS (
    SELECT
        {{ track }}, bin, mean,
        MAX(mean) OVER (PARTITION BY {{ track }}) AS greatest
    FROM cells
)
SELECT
    s.rank,
    s.process,
    a.gpu,
    s.name,
    s.track,
    s.unit,
    s.bin,
    s.bin * g.length_ns AS begin_ns,
    LEAST(g.length_ns, GREATEST(g.to_ns - g.from_ns - s.bin * g.length_ns, 1)) AS length_ns,
    s.mean,
    CASE WHEN s.greatest > CAST(0 AS DOUBLE) THEN CAST(100 AS DOUBLE) * s.mean / s.greatest END AS share_pct
FROM shared AS s
JOIN grids AS g ON g.process = s.process
LEFT JOIN agents AS a ON a.process = s.process AND a.agent_id = s.agent_id
{{ order_by('s.rank, s.process, a.gpu, s.name, s.track, s.unit, s.bin') }}
