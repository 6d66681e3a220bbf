-- title: Kernel duration histogram
-- about: Dispatches by duration, in bins from a power of two nanoseconds to the next. Zero durations have a separate bin.
-- kind: histogram
-- plot: histogram from=bin_start_ns to=bin_end_ns count=calls scale=log
-- needs: kernels processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, category, queue_id, stream_id, tid, agent_id, region_name, graph_exec_id
-- column: bin_start_ns ns -- least duration of the bin
-- column: bin_end_ns ns -- end of the bin, not included
-- column: calls count -- dispatches
-- column: total_ns ns -- sum of their durations
-- column: pct pct -- share of the dispatches of the group
-- column: pct_of_time pct -- share of the kernel time of the group
WITH dispatches AS (
    SELECT
        {{ keys_of('k') }}1 AS every_row,
        k.duration_ns,
        -- Without what is smaller than a unit, it has few enough digits for a logarithm that distinguishes neighbors.
        CASE
            WHEN k.duration_ns < 0 THEN 0
            WHEN k.duration_ns < 4294967296 THEN k.duration_ns
            ELSE k.duration_ns - k.duration_ns % 4294967296
        END AS units_ns,
        CASE WHEN k.duration_ns < 4294967296 THEN 1 ELSE 4294967296 END AS unit_ns
    FROM kernels AS k{{ join_processes('k') }}
    WHERE k.valid
),
-- Bin -1 holds what has no length. The powers are whole numbers, the last one cut to the greatest.
powers AS (
    SELECT
        n - 1 AS bin,
        CAST(CASE WHEN n = 0 THEN CAST(0 AS DOUBLE) ELSE POWER(CAST(2 AS DOUBLE), CAST(n - 1 AS DOUBLE)) END AS BIGINT) AS bin_start_ns,
        CASE
            WHEN n = 63 THEN 9223372036854775807
            ELSE CAST(POWER(CAST(2 AS DOUBLE), CAST(CASE WHEN n < 63 THEN n ELSE 0 END AS DOUBLE)) AS BIGINT)
        END AS bin_end_ns
    FROM numbers
    WHERE n < 64
),
-- Half a unit more than whole units is near no power of two, where the logarithm may round either way.
placed AS (
    SELECT
        {{ keys }}every_row, duration_ns,
        CAST(FLOOR(LOG2(CAST(2 AS DOUBLE) * CAST(units_ns AS DOUBLE) + CAST(unit_ns AS DOUBLE))) AS BIGINT) - 1 AS bin
    FROM dispatches
),
counted AS (
    SELECT
        {{ keys }}every_row, bin,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns
    FROM placed
    GROUP BY {{ keys }}every_row, bin
),
value_ranges AS (
    SELECT
        {{ keys }}every_row,
        MIN(bin) AS first_bin,
        MIN(CASE WHEN bin >= 0 THEN bin ELSE 63 END) AS first_length,
        MAX(bin) AS last_bin,
        CAST(SUM(calls) AS BIGINT) AS group_calls,
        CAST(SUM(total_ns) AS BIGINT) AS group_ns
    FROM counted
    GROUP BY {{ keys }}every_row
),
bins AS (
    SELECT
        {{ keys_in('r') }}r.group_calls, r.group_ns, w.bin, w.bin_start_ns, w.bin_end_ns
    FROM value_ranges AS r
    CROSS JOIN powers AS w
    WHERE (w.bin >= r.first_length AND w.bin <= r.last_bin) OR (w.bin = -1 AND r.first_bin = -1)
),
filled AS (
    SELECT
        {{ keys_in('b') }}b.bin_start_ns, b.bin_end_ns, b.group_calls, b.group_ns,
        COALESCE(c.calls, 0) AS calls,
        COALESCE(c.total_ns, 0) AS total_ns
    FROM bins AS b
    LEFT JOIN counted AS c ON c.bin = b.bin{{ and_same_keys('c', 'b') }}
)
SELECT
    {{ keys }}bin_start_ns,
    bin_end_ns,
    calls,
    total_ns,
    {{ percent('calls', 'group_calls') }} AS pct,
    {{ percent('total_ns', 'group_ns') }} AS pct_of_time
FROM filled
{{ order_by('bin_start_ns') }}
