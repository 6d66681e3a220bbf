-- title: Copy summary
-- about: Bytes, time and bandwidth of memory copies by direction.
-- kind: summary
-- plot: bars label=direction value=gb_per_s role=copy
-- needs: memory_copies processes
-- local: summed_of_process
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, peer_gpu, src_agent_id, dst_agent_id, stream_id, tid, graph_exec_id
-- column: direction name -- H2D, D2H, D2D, P2P, H2H or NONE
-- column: copies count -- copies
-- column: copies_without_size count -- of them without a recorded size: they are in no figure of bytes and not in the bandwidth
-- column: total_bytes bytes -- bytes of the copies that have a size, null when none has
-- column: mean_bytes bytes -- mean size of the copies that have one
-- column: total_ns ns -- sum of the durations
-- column: busy_ns ns -- time with at least one copy running, added up over process, GPU and direction
-- column: sized_busy_ns ns -- the same of the copies that have a size
-- column: gb_per_s gb_per_s -- total_bytes over sized_busy_ns, in 10^9 bytes per second
-- column: min_ns ns -- shortest copy
-- column: max_ns ns -- longest copy
{%- set keys = by | join(', ') ~ (', ' if by else '') %}
{%- set lane = by | reject('in', ['rank', 'gpu', 'process', 'node', 'hostname']) | join(', ') %}
{%- set lane = 'process, gpu, direction' ~ (', ' if lane else '') ~ lane %}
{%- set others = by | reject('in', ['process', 'gpu']) | join(', ') %}
{%- set columns = others ~ (', ' if others else '') ~ 'process, gpu, direction, copy_id, bytes, start_ns, end_ns, duration_ns' %}
WITH copies AS (
    SELECT
        {%- for column in by if column not in ['process', 'gpu'] %}
        {{ 'p.' if column in ['node', 'hostname'] else 'c.' }}{{ column }},
        {%- endfor %}
        c.process,
        c.gpu,
        c.direction,
        c.copy_id,
        c.bytes,
        c.start_ns,
        c.end_ns,
        c.duration_ns
    FROM memory_copies AS c
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = c.process
    {%- endif %}
    WHERE c.valid
),
reached AS (
    SELECT
        {{ columns }},
        MAX(end_ns) OVER (
            PARTITION BY {{ lane }}
            ORDER BY start_ns NULLS FIRST, end_ns NULLS FIRST, copy_id NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS reach_ns,
        MAX(CASE WHEN bytes IS NULL THEN start_ns ELSE end_ns END) OVER (
            PARTITION BY {{ lane }}
            ORDER BY start_ns NULLS FIRST, end_ns NULLS FIRST, copy_id NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS sized_reach_ns
    FROM copies
),
followed AS (
    SELECT
        {{ columns }},
        LAG(reach_ns) OVER (
            PARTITION BY {{ lane }}
            ORDER BY start_ns NULLS FIRST, end_ns NULLS FIRST, copy_id NULLS FIRST
        ) AS before_ns,
        LAG(sized_reach_ns) OVER (
            PARTITION BY {{ lane }}
            ORDER BY start_ns NULLS FIRST, end_ns NULLS FIRST, copy_id NULLS FIRST
        ) AS sized_before_ns
    FROM reached
),
summed_of_process AS (
    SELECT
        {{ keys }}direction,
        CAST(COUNT(*) AS BIGINT) AS copies,
        CAST(COUNT(bytes) AS BIGINT) AS sized,
        CAST(SUM(bytes) AS BIGINT) AS total_bytes,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        CAST(SUM(
            CASE
                WHEN before_ns IS NULL OR before_ns <= start_ns THEN duration_ns
                WHEN before_ns < end_ns THEN end_ns - before_ns
                ELSE 0
            END
        ) AS BIGINT) AS busy_ns,
        CAST(SUM(
            CASE
                WHEN bytes IS NULL THEN 0
                WHEN sized_before_ns IS NULL OR sized_before_ns <= start_ns THEN duration_ns
                WHEN sized_before_ns < end_ns THEN end_ns - sized_before_ns
                ELSE 0
            END
        ) AS BIGINT) AS sized_busy_ns,
        MIN(duration_ns) AS min_ns,
        MAX(duration_ns) AS max_ns
    FROM followed
    GROUP BY {{ keys }}direction
),
summed AS (
    SELECT
        {{ keys }}direction,
        CAST(SUM(copies) AS BIGINT) AS copies,
        CAST(SUM(sized) AS BIGINT) AS sized,
        CAST(SUM(total_bytes) AS BIGINT) AS total_bytes,
        CAST(SUM(total_ns) AS BIGINT) AS total_ns,
        CAST(SUM(busy_ns) AS BIGINT) AS busy_ns,
        CAST(SUM(sized_busy_ns) AS BIGINT) AS sized_busy_ns,
        MIN(min_ns) AS min_ns,
        MAX(max_ns) AS max_ns
    FROM summed_of_process
    GROUP BY {{ keys }}direction
),
labelled AS (
    SELECT
        {{ keys }}CAST(direction AS VARCHAR) AS direction,
        copies,
        sized,
        CASE WHEN sized > 0 THEN total_bytes END AS total_bytes,
        total_ns,
        busy_ns,
        sized_busy_ns,
        min_ns,
        max_ns
    FROM summed
)
SELECT
    {{ keys }}direction,
    copies,
    copies - sized AS copies_without_size,
    total_bytes,
    CAST(total_bytes AS DOUBLE) / NULLIF(CAST(sized AS DOUBLE), CAST(0 AS DOUBLE)) AS mean_bytes,
    total_ns,
    busy_ns,
    sized_busy_ns,
    CAST(total_bytes AS DOUBLE) / NULLIF(CAST(sized_busy_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS gb_per_s,
    min_ns,
    max_ns
FROM labelled
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    total_ns DESC NULLS LAST,
    direction NULLS LAST
