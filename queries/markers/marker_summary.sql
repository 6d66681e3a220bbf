-- title: Marker summary
-- about: Time and number of every ROCTx range and mark by its text, longest total first.
-- kind: summary
-- needs: regions marks processes
-- by:
-- dimensions: rank, process, node, hostname, tid
-- param: top int = 0 -- first N markers of each group, 0 = all
-- column: message text -- text of the marker, else the function that made it
-- column: kind text -- thread for ranges that are pushed and popped, process for those that are started and stopped, mark for marks
-- column: calls count -- ranges or marks
-- column: total_ns ns -- sum of the durations, nested ranges counted again
-- column: mean_ns ns -- mean duration
-- column: median_ns ns -- median duration
-- column: min_ns ns -- shortest range
-- column: max_ns ns -- longest range
WITH markers AS (
    SELECT
        {{ keys_of('r') }}COALESCE(r.message, CAST(r.name AS VARCHAR)) AS message,
        CASE
            WHEN CAST(r.name AS VARCHAR) IN ('roctxProcessRange', 'roctxProcessRangeA', 'roctxRangeStart', 'roctxRangeStartA') THEN 'process'
            ELSE 'thread'
        END AS kind,
        r.duration_ns
    FROM regions AS r{{ join_processes('r') }}
    WHERE r.valid AND r.domain = 'marker'
    UNION ALL
    SELECT
        {{ keys_of('m') }}COALESCE(m.message, CAST(m.name AS VARCHAR)) AS message,
        'mark' AS kind,
        CAST(0 AS BIGINT) AS duration_ns
    FROM marks AS m{{ join_processes('m') }}
    WHERE m.domain = 'marker'
),
summed AS (
    SELECT
        {{ keys }}message, kind,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        MEDIAN(CAST(duration_ns AS DOUBLE)) AS median_ns,
        MIN(duration_ns) AS min_ns,
        MAX(duration_ns) AS max_ns
    FROM markers
    GROUP BY {{ keys }}message, kind
),
placed AS (
    SELECT
        {{ keys }}message, kind, calls, total_ns, median_ns, min_ns, max_ns
        {{- place_by('-total_ns, message, kind') }}
    FROM summed
)
SELECT
    {{ keys }}message,
    kind,
    calls,
    total_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    median_ns,
    min_ns,
    max_ns
FROM placed
{{ top_by('total_ns DESC, message, kind') }}
