-- title: Leak candidates
-- about: Allocations never freed in the trace, by size and allocating call, most bytes first. They include memory kept for the whole run, and memory in use at the end of the trace; spread over time and the lifetimes of similar allocations show growth. With a window, allocations made in it.
-- kind: summary
-- needs: allocation_lifetimes processes
-- by: rank, gpu
-- dimensions: rank, gpu, process, node, hostname, tid
-- param: top int = 0 -- first N rows of each group, 0 = all
-- column: rank id -- rank
-- column: gpu id -- GPU of the process; null is host memory
-- column: api_name name -- outermost call with the allocation's correlation id, null where none is recorded
-- column: bytes bytes -- size of one allocation
-- column: level name -- REAL or VIRTUAL
-- column: fate name -- live: never given back; replaced: another allocation got its address, so that its release is not recorded; unpaired: no address is recorded, so that no release can be found
-- column: allocations count -- how many of this size from this call
-- column: leaked_bytes bytes -- sum of their sizes
-- column: of_size count -- all allocations of this size from this call, given back or not
-- column: first_time_ns ns -- when the first of those never given back was made; null when the row is of several processes
-- column: last_time_ns ns -- when the last was made
-- column: overdue count -- those of them that were as old, when the last of this size was made by this call, as any other had become that was given back by then, within the process; null when the row is of several processes, and for fates other than live
-- column: verdict text -- growing when three or more are overdue, a third of them at least made in the second half of the time from the first of these to the end of the process, else kept; null where overdue is null
-- column: first_alloc_id id -- first of them, see the table `memory_allocations`
{%- set allocation = keys_and(['process']) ~ 'alloc_id, api_name, bytes, level, fate, time_ns' %}
{%- set size = keys ~ 'api_name, bytes, level' %}
{#- Times of different processes are of different clocks, so that ages compare within one. #}
{%- set own_size = keys_and(['process']) ~ 'api_name, bytes, level' %}
{%- set turned -%}
{{ size }}, fate, allocations, leaked_bytes, of_size, first_process, last_process, first_time_ns, last_time_ns,
        overdue, overdue_late, first_alloc_id
{%- endset %}
WITH lasts AS (
    SELECT process, MAX(time_ns) AS last_ns
    FROM allocation_lifetimes
    GROUP BY process
),
ends AS (
    SELECT l.process, CASE WHEN p.end_ns > l.last_ns THEN p.end_ns ELSE l.last_ns END AS process_end_ns
    FROM lasts AS l
    JOIN processes AS p ON p.process = l.process
),
listed AS (
    SELECT
        {{ keys_of('a', ['process']) }}a.process, a.alloc_id,
        CAST(a.api_name AS VARCHAR) AS api_name,
        a.bytes,
        {{ texts('level, fate', 'a') }},
        a.time_ns,
        CASE WHEN a.fate = 'freed' THEN a.ended_ns END AS freed_ns,
        e.process_end_ns
    FROM allocation_lifetimes AS a
    JOIN ends AS e ON e.process = a.process{{ join_processes('a') }}
    WHERE a.fate <> 'unmatched_free'
),
of_sizes AS (
    SELECT
        {{ allocation }}, freed_ns, process_end_ns,
        COUNT(*) OVER (PARTITION BY {{ size }}) AS of_size,
        MAX(time_ns) OVER (PARTITION BY {{ own_size }}) AS last_made_ns
    FROM listed
),
lives AS (
    SELECT
        {{ allocation }}, process_end_ns, of_size, last_made_ns,
        MAX(CASE WHEN freed_ns <= last_made_ns THEN freed_ns - time_ns ELSE 0 END) OVER (PARTITION BY {{ own_size }}) AS longest_life_ns
    FROM of_sizes
),
never_freed AS (
    SELECT
        {{ allocation }}, process_end_ns, of_size,
        CASE WHEN last_made_ns - time_ns >= longest_life_ns THEN time_ns END AS overdue_ns
    FROM lives
    WHERE fate IN ('live', 'replaced', 'unpaired')
),
overdue_ones AS (
    SELECT
        {{ allocation }}, process_end_ns, of_size, overdue_ns,
        MIN(overdue_ns) OVER (PARTITION BY {{ own_size }}, fate) AS first_overdue_ns
    FROM never_freed
),
summed AS (
    SELECT
        {{ size }}, fate,
        CAST(COUNT(*) AS BIGINT) AS allocations,
        CAST(SUM(bytes) AS BIGINT) AS leaked_bytes,
        CAST(MAX(of_size) AS BIGINT) AS of_size,
        MIN(process) AS first_process,
        MAX(process) AS last_process,
        MIN(time_ns) AS first_time_ns,
        MAX(time_ns) AS last_time_ns,
        CAST(COUNT(overdue_ns) AS BIGINT) AS overdue,
        CAST(SUM(CASE WHEN 2 * (overdue_ns - first_overdue_ns) > process_end_ns - first_overdue_ns THEN 1 ELSE 0 END) AS BIGINT) AS overdue_late,
        MIN(alloc_id) AS first_alloc_id
    FROM overdue_ones
    GROUP BY {{ size }}, fate
),
turned AS (
    SELECT
        {{ turned }}, -leaked_bytes AS less_leaked
    FROM summed
){{ ranked_step('turned', turned ~ ', less_leaked', 'less_leaked, bytes, api_name, level, fate') }}
SELECT
    {{ keys }}api_name,
    bytes,
    level,
    fate,
    allocations,
    leaked_bytes,
    of_size,
    CASE WHEN first_process = last_process THEN first_time_ns END AS first_time_ns,
    CASE WHEN first_process = last_process THEN last_time_ns END AS last_time_ns,
    CASE WHEN first_process = last_process AND fate = 'live' THEN overdue END AS overdue,
    CASE
        WHEN first_process <> last_process OR fate <> 'live' THEN NULL
        WHEN overdue >= 3 AND 3 * overdue_late >= overdue THEN 'growing'
        ELSE 'kept'
    END AS verdict,
    first_alloc_id
FROM {{ 'ranked' if top > 0 and by else 'turned' }}
{{ top_by('leaked_bytes DESC, bytes, api_name, level, fate') }}
