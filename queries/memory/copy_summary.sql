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
{%- set others = by | reject('in', ['rank', 'gpu', 'process', 'node', 'hostname']) | list %}
{%- set lane = (['process', 'gpu', 'direction'] + others) | join(', ') %}
{%- set in_order = 'PARTITION BY ' ~ lane ~ ' ORDER BY start_ns NULLS FIRST, end_ns NULLS FIRST, copy_id NULLS FIRST' %}
{%- set so_far = in_order ~ ' ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW' %}
{%- set copy = keys_but(['process', 'gpu']) ~ 'process, gpu, direction, copy_id, bytes, start_ns, end_ns, duration_ns' %}
WITH copies AS (
    SELECT
        {{ keys_of('c', ['process', 'gpu']) }}c.process, c.gpu, c.direction, c.copy_id, c.bytes, c.start_ns,
        c.end_ns, c.duration_ns
    FROM memory_copies AS c{{ join_processes('c') }}
    WHERE c.valid
),
reached AS (
    SELECT
        {{ copy }},
        MAX(end_ns) OVER ({{ so_far }}) AS reach_ns,
        MAX(CASE WHEN bytes IS NULL THEN start_ns ELSE end_ns END) OVER ({{ so_far }}) AS sized_reach_ns
    FROM copies
),
followed AS (
    SELECT
        {{ copy }},
        LAG(reach_ns) OVER ({{ in_order }}) AS before_ns,
        LAG(sized_reach_ns) OVER ({{ in_order }}) AS sized_before_ns
    FROM reached
),
summed_of_process AS (
    SELECT
        {{ keys }}direction,
        CAST(COUNT(*) AS BIGINT) AS copies,
        CAST(COUNT(bytes) AS BIGINT) AS sized,
        CAST(SUM(bytes) AS BIGINT) AS total_bytes,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        {{ union_time('before_ns', length='duration_ns') }} AS busy_ns,
        {{ union_time('sized_before_ns', unless='bytes IS NULL', length='duration_ns') }} AS sized_busy_ns,
        MIN(duration_ns) AS min_ns,
        MAX(duration_ns) AS max_ns
    FROM followed
    GROUP BY {{ keys }}direction
),
summed AS (
    SELECT
        {{ keys }}direction,
        {{ sums('copies, sized, total_bytes, total_ns, busy_ns, sized_busy_ns') }},
        MIN(min_ns) AS min_ns,
        MAX(max_ns) AS max_ns
    FROM summed_of_process
    GROUP BY {{ keys }}direction
),
labelled AS (
    SELECT
        {{ keys }}CAST(direction AS VARCHAR) AS direction,
        copies, sized,
        CASE WHEN sized > 0 THEN total_bytes END AS total_bytes,
        total_ns, busy_ns, sized_busy_ns, min_ns, max_ns
    FROM summed
)
SELECT
    {{ keys }}direction,
    copies,
    copies - sized AS copies_without_size,
    total_bytes,
    {{ ratio('total_bytes', 'sized') }} AS mean_bytes,
    total_ns,
    busy_ns,
    sized_busy_ns,
    {{ ratio('total_bytes', 'sized_busy_ns') }} AS gb_per_s,
    min_ns,
    max_ns
FROM labelled
{{ order_by('total_ns DESC, direction') }}
