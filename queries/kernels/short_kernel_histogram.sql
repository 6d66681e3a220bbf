-- title: Short kernel histogram
-- about: Dispatches shorter than a threshold by duration, in equal bins from the shortest to the longest.
-- kind: histogram
-- plot: histogram from=bin_start_us to=bin_end_us count=calls
-- needs: kernels processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, category, queue_id, stream_id, tid, agent_id, region_name, graph_exec_id
-- param: bins int = 100 [1, 10000] -- number of bins
-- param: threshold_us float = 10 [0, 1000000000] -- a dispatch is short when it takes less than this many microseconds
-- column: bin_start_us us -- least duration of the bin
-- column: bin_end_us us -- end of the bin, which only the last bin includes
-- column: calls count -- dispatches
{#- polars multiplies by the rounded inverse of a divisor that is a constant, so the divisors are columns. -#}
WITH shorts AS (
    SELECT
        {{ keys_of('k') }}1 AS every_row,
        k.duration_ns
    FROM kernels AS k{{ join_processes('k') }}
    WHERE k.valid
        AND CAST(k.duration_ns AS DOUBLE) < CAST('{{ threshold_us }}' AS DOUBLE) * CAST(1000 AS DOUBLE)
),
durations AS (
    SELECT {{ keys }}every_row, duration_ns, CAST(COUNT(*) AS BIGINT) AS dispatches
    FROM shorts
    GROUP BY {{ keys }}every_row, duration_ns
),
timed AS (
    SELECT
        {{ keys }}every_row, dispatches,
        CAST({{ bins }} + duration_ns * 0 AS DOUBLE) AS bins,
        CAST(duration_ns AS DOUBLE) / CAST(1000 + duration_ns * 0 AS DOUBLE) AS duration_us
    FROM durations
),
ranged AS (
    SELECT
        {{ keys }}every_row, dispatches, bins, duration_us,
        MIN(duration_us) OVER (PARTITION BY {{ keys }}every_row) AS least_us,
        MAX(duration_us) OVER (PARTITION BY {{ keys }}every_row) AS greatest_us
    FROM timed
),
-- Equal durations get a range of one microsecond around them.
bounded AS (
    SELECT
        {{ keys }}every_row, dispatches, bins, duration_us,
        CASE WHEN least_us = greatest_us THEN least_us - CAST('0.5' AS DOUBLE) ELSE least_us END AS low_us,
        CASE WHEN least_us = greatest_us THEN greatest_us + CAST('0.5' AS DOUBLE) ELSE greatest_us END AS high_us
    FROM ranged
),
guessed AS (
    SELECT
        {{ keys }}every_row, dispatches, bins, duration_us, low_us, high_us,
        (high_us - low_us) / bins AS step_us,
        FLOOR((duration_us - low_us) / (high_us - low_us) * bins) AS guess
    FROM bounded
),
-- The division rounds, so that a duration next to an edge may be one bin off: the edges themselves decide.
lowered AS (
    SELECT
        {{ keys }}every_row, dispatches, bins, duration_us, low_us, high_us, step_us,
        CASE
            WHEN guess >= bins AND duration_us < (bins - CAST(1 AS DOUBLE)) * step_us + low_us
                THEN bins - CAST(2 AS DOUBLE)
            WHEN guess >= bins THEN bins - CAST(1 AS DOUBLE)
            WHEN duration_us < guess * step_us + low_us THEN guess - CAST(1 AS DOUBLE)
            ELSE guess
        END AS bin
    FROM guessed
),
placed AS (
    SELECT
        {{ keys }}every_row, dispatches, low_us, high_us, step_us,
        CAST(
            CASE
                WHEN bin < bins - CAST(1 AS DOUBLE)
                    AND duration_us >= (bin + CAST(1 AS DOUBLE)) * step_us + low_us THEN bin + CAST(1 AS DOUBLE)
                ELSE bin
            END
        AS BIGINT) AS bin
    FROM lowered
),
counted AS (
    SELECT {{ keys }}every_row, bin, CAST(SUM(dispatches) AS BIGINT) AS calls
    FROM placed
    GROUP BY {{ keys }}every_row, bin
),
value_ranges AS (
    SELECT {{ keys }}every_row, MIN(low_us) AS low_us, MIN(high_us) AS high_us, MIN(step_us) AS step_us
    FROM placed
    GROUP BY {{ keys }}every_row
),
places AS (
    SELECT n
    FROM numbers
    WHERE n < {{ bins }}
),
edges AS (
    SELECT
        {{ keys_in('r') }}b.n,
        CAST(b.n AS DOUBLE) * r.step_us + r.low_us AS bin_start_us,
        CASE
            WHEN b.n < {{ bins - 1 }} THEN CAST(b.n + 1 AS DOUBLE) * r.step_us + r.low_us
            ELSE r.high_us
        END AS bin_end_us
    FROM value_ranges AS r
    CROSS JOIN places AS b
)
SELECT
    {{ keys_in('e') }}e.bin_start_us,
    e.bin_end_us,
    COALESCE(c.calls, 0) AS calls
FROM edges AS e
LEFT JOIN counted AS c
    ON c.bin = e.n{{ and_same_keys('c', 'e') }}
ORDER BY
    {%- for column in by %}
    e.{{ column }} NULLS FIRST,
    {%- endfor %}
    e.n NULLS LAST
