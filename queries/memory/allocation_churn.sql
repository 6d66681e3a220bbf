-- title: Allocation churn
-- about: Sizes that are allocated and given back again and again: memory that could be kept. Most time in the calls first. With a window, the allocations made in it.
-- kind: summary
-- needs: allocation_lifetimes processes
-- by: rank, gpu
-- dimensions: rank, gpu, process, node, hostname, tid, agent_id
-- param: least int = 2 [1, 1000000000] -- allocations of a size that make it worth a row
-- param: top int = 0 -- first N rows of each group, 0 = all
-- column: rank id -- rank
-- column: gpu id -- GPU of the process; null is host memory
-- column: bytes bytes -- size of one allocation
-- column: level name -- REAL or VIRTUAL
-- column: allocations count -- allocations of this size
-- column: freed count -- those that were given back in the trace
-- column: total_bytes bytes -- sum of their sizes
-- column: median_life_ns ns -- median time from the allocation to the release, of those that were given back
-- column: call_ns ns -- time in the calls that allocate and release
-- column: mean_call_ns ns -- call_ns per allocation
-- column: per_second number -- allocations per second of the time from the first to the last allocation of any size, added up over the processes; null where that is none
-- column: pct pct -- share of the time in all such calls of the group
{%- set keys = by | join(', ') ~ (', ' if by else '') %}
WITH lives AS (
    SELECT
        {%- for column in by %}
        {{ 'p.' if column in ['node', 'hostname'] else 'a.' }}{{ column }},
        {%- endfor %}
        a.bytes,
        CAST(a.level AS VARCHAR) AS level,
        a.process AS of_process,
        CASE WHEN a.fate = 'freed' THEN 1 ELSE 0 END AS freed,
        CASE WHEN a.fate = 'freed' THEN CAST(a.ended_ns - a.time_ns AS DOUBLE) END AS life_ns,
        a.time_ns,
        a.call_ns
    FROM allocation_lifetimes AS a
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = a.process
    {%- endif %}
    WHERE a.fate <> 'unmatched_free'
),
-- Clocks of processes are not compared: each has its own extent.
per_process AS (
    SELECT {{ keys }}of_process, 1 AS every_row, MAX(time_ns) - MIN(time_ns) AS process_ns
    FROM lives
    GROUP BY {{ keys }}of_process
),
extents AS (
    SELECT {{ keys }}every_row, CAST(SUM(process_ns) AS BIGINT) AS extent_ns
    FROM per_process
    GROUP BY {{ keys }}every_row
),
summed AS (
    SELECT
        {{ keys }}1 AS every_row, bytes, level,
        CAST(COUNT(*) AS BIGINT) AS allocations,
        CAST(SUM(freed) AS BIGINT) AS freed,
        CAST(SUM(bytes) AS BIGINT) AS total_bytes,
        MEDIAN(life_ns) AS median_life_ns,
        CAST(SUM(call_ns) AS BIGINT) AS call_ns
    FROM lives
    GROUP BY {{ keys }}bytes, level
),
shared AS (
    SELECT
        {%- for column in by %}
        s.{{ column }},
        {%- endfor %}
        s.bytes, s.level, s.allocations, s.freed, s.total_bytes, s.median_life_ns, s.call_ns, e.extent_ns,
        CAST(SUM(s.call_ns) OVER ({{ 'PARTITION BY ' if by else '' }}{% for column in by %}{{ ', ' if not loop.first }}s.{{ column }}{% endfor %}) AS BIGINT) AS group_ns,
        -s.call_ns AS less_call
    FROM summed AS s
    JOIN extents AS e
        ON e.every_row = s.every_row
        {%- for column in by %}
        AND COALESCE(CAST(e.{{ column }} AS VARCHAR) || '.', '') = COALESCE(CAST(s.{{ column }} AS VARCHAR) || '.', '')
        {%- endfor %}
),
frequent AS (
    SELECT {{ keys }}bytes, level, allocations, freed, total_bytes, median_life_ns, call_ns, group_ns, extent_ns, less_call
    FROM shared
    WHERE allocations >= {{ least }}
){%- if top > 0 and by %},
ranked AS (
    SELECT
        {{ keys }}bytes, level, allocations, freed, total_bytes, median_life_ns, call_ns, group_ns, extent_ns, less_call,
        ROW_NUMBER() OVER (
            PARTITION BY {{ by | join(', ') }}
            ORDER BY less_call NULLS LAST, bytes NULLS LAST, level NULLS LAST
        ) AS place
    FROM frequent
)
{%- endif %}
SELECT
    {{ keys }}bytes,
    level,
    allocations,
    freed,
    total_bytes,
    median_life_ns,
    call_ns,
    CAST(call_ns AS DOUBLE) / CAST(allocations AS DOUBLE) AS mean_call_ns,
    CAST(allocations AS DOUBLE) * CAST(1000000000 AS DOUBLE) / NULLIF(CAST(extent_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS per_second,
    CAST(100 AS DOUBLE) * CAST(call_ns AS DOUBLE) / NULLIF(CAST(group_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS pct
FROM {{ 'ranked' if top > 0 and by else 'frequent' }}
{%- if top > 0 and by %}
WHERE place <= {{ top }}
{%- endif %}
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    less_call NULLS LAST,
    bytes NULLS LAST,
    level NULLS LAST
{%- if top > 0 and not by %}
LIMIT {{ top }}
{%- endif %}
