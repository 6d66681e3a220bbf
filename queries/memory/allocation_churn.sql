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
{%- set frequent -%}
{{ keys }}bytes, level, allocations, freed, total_bytes, median_life_ns, call_ns, group_ns, extent_ns, less_call
{%- endset %}
WITH lives AS (
    SELECT
        {{ keys_of('a') }}a.bytes,
        CAST(a.level AS VARCHAR) AS level,
        a.process AS of_process,
        CASE WHEN a.fate = 'freed' THEN 1 ELSE 0 END AS freed,
        CASE WHEN a.fate = 'freed' THEN CAST(a.ended_ns - a.time_ns AS DOUBLE) END AS life_ns,
        a.time_ns, a.call_ns
    FROM allocation_lifetimes AS a{{ join_processes('a') }}
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
        {{ keys_in('s') }}s.bytes, s.level, s.allocations, s.freed, s.total_bytes, s.median_life_ns, s.call_ns,
        e.extent_ns,
        CAST(SUM(s.call_ns) OVER ({{ 'PARTITION BY s.' ~ by | join(', s.') if by }}) AS BIGINT) AS group_ns,
        -s.call_ns AS less_call
    FROM summed AS s
    JOIN extents AS e ON e.every_row = s.every_row{{ and_same_keys('e', 's') }}
),
frequent AS (
    SELECT {{ frequent }}
    FROM shared
    WHERE allocations >= {{ least }}
){{ ranked_step('frequent', frequent, 'less_call, bytes, level') }}
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
    {{ percent('call_ns', 'group_ns') }} AS pct
FROM {{ 'ranked' if top > 0 and by else 'frequent' }}
{{ top_by('less_call, bytes, level') }}
