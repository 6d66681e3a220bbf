-- title: GPU timeline
-- about: The life of the processes as five rows: all of it, kernels, copies, either, neither. What runs on one GPU hides the idleness of the others.
-- kind: summary
-- needs: kernels gpu_segments processes
-- by:
-- dimensions: rank, process, node, hostname
-- column: type text -- total_time, kernel, memory, busy_time or idle
-- column: time_ms ms -- length, added up over the processes; null when the life of a process is unknown
-- column: percent pct -- share of total_time
{%- set flags = ['kernel', 'memory', 'busy'] %}
WITH gpus AS (
    SELECT process, MIN(gpu) AS first_gpu, MAX(gpu) AS last_gpu
    FROM gpu_segments
    GROUP BY process
),
-- Segments of one GPU hide nothing of one another.
of_one_gpu AS (
    SELECT
        process,
        {{ sum_if('compute > 0 OR comm > 0', 'end_ns - start_ns') }} AS kernel_ns,
        {{ sum_if('copies > 0', 'end_ns - start_ns') }} AS memory_ns,
        CAST(SUM(end_ns - start_ns) AS BIGINT) AS busy_ns
    FROM gpu_segments
    WHERE compute > 0 OR comm > 0 OR copies > 0
    GROUP BY process
),
with_several_gpus AS (
    SELECT process
    FROM gpus
    WHERE first_gpu < last_gpu
),
segments AS (
    SELECT
        g.process, g.gpu, g.start_ns, g.end_ns,
        CASE WHEN g.compute > 0 OR g.comm > 0 THEN 1 ELSE 0 END AS kernel,
        CASE WHEN g.copies > 0 THEN 1 ELSE 0 END AS memory,
        1 AS busy
    FROM gpu_segments AS g
    JOIN with_several_gpus AS s ON s.process = g.process
    WHERE g.compute > 0 OR g.comm > 0 OR g.copies > 0
),
reached AS (
    SELECT
        process, gpu, start_ns, end_ns,
        {{ flags | join(', ') }}
        {%- for flag in flags %},
        -- A segment of another kind reaches no further than its start, which hides nothing of those after it.
        MAX(CASE WHEN {{ flag }} > 0 THEN end_ns ELSE start_ns END) OVER (
            PARTITION BY process
            ORDER BY start_ns NULLS FIRST, gpu NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS {{ flag }}_reach
        {%- endfor %}
    FROM segments
),
followed AS (
    SELECT
        process, start_ns, end_ns,
        {{ flags | join(', ') }}
        {%- for flag in flags %},
        LAG({{ flag }}_reach) OVER (
            PARTITION BY process
            ORDER BY start_ns NULLS FIRST, gpu NULLS FIRST
        ) AS {{ flag }}_before
        {%- endfor %}
    FROM reached
),
of_several_gpus AS (
    SELECT
        process
        {%- for flag in flags %},
        {{ union_time(flag ~ '_before', unless=flag ~ ' = 0') }} AS {{ flag }}_ns
        {%- endfor %}
    FROM followed
    GROUP BY process
),
process_time AS (
    SELECT o.process, o.kernel_ns, o.memory_ns, o.busy_ns
    FROM of_one_gpu AS o
    JOIN gpus AS g ON g.process = o.process
    WHERE g.first_gpu = g.last_gpu
    UNION ALL
    SELECT process, kernel_ns, memory_ns, busy_ns
    FROM of_several_gpus
),
process_rows AS (
    SELECT
        {{ keys_in('p') }}1 AS every_row,
        p.end_ns - p.start_ns AS total_ns,
        CAST(COALESCE(t.kernel_ns, 0) AS BIGINT) AS kernel_ns,
        CAST(COALESCE(t.memory_ns, 0) AS BIGINT) AS memory_ns,
        CAST(COALESCE(t.busy_ns, 0) AS BIGINT) AS busy_ns,
        COUNT(t.busy_ns) OVER () AS active_processes
    FROM processes AS p
    LEFT JOIN process_time AS t ON t.process = p.process
    WHERE p.role = 'trace'
),
summed AS (
    SELECT
        {{ keys }}every_row,
        CAST(CASE WHEN COUNT(total_ns) = COUNT(*) THEN SUM(total_ns) END AS BIGINT) AS total_ns,
        {{ sums('kernel_ns, memory_ns, busy_ns') }},
        CAST(
            CASE
                WHEN COUNT(total_ns) = COUNT(*) THEN SUM(CASE WHEN total_ns > busy_ns THEN total_ns - busy_ns ELSE 0 END)
            END
        AS BIGINT) AS idle_ns
    FROM process_rows
    WHERE active_processes > 0
    GROUP BY {{ keys }}every_row
),
kinds AS (
    SELECT n
    FROM numbers
    WHERE n < 5
),
lines AS (
    SELECT
        {{ keys_in('s') }}k.n, s.total_ns,
        CAST(
            CASE
                WHEN k.n = 0 THEN s.total_ns
                WHEN k.n = 1 THEN s.kernel_ns
                WHEN k.n = 2 THEN s.memory_ns
                WHEN k.n = 3 THEN s.busy_ns
                ELSE s.idle_ns
            END
        AS DOUBLE) AS time_ns
    FROM summed AS s
    CROSS JOIN kinds AS k
)
SELECT
    {{ keys }}CASE
        WHEN n = 0 THEN 'total_time'
        WHEN n = 1 THEN 'kernel'
        WHEN n = 2 THEN 'memory'
        WHEN n = 3 THEN 'busy_time'
        ELSE 'idle'
    END AS "type",
    time_ns / CAST(1000000 AS DOUBLE) AS time_ms,
    CASE
        WHEN total_ns > 0 THEN CAST(100 AS DOUBLE) * time_ns / CAST(total_ns AS DOUBLE)
        WHEN total_ns <= 0 THEN CAST(0 AS DOUBLE)
    END AS percent
FROM lines
{{ order_by('n') }}
