-- title: Copies by launching call
-- about: Copies by launching API call, with the copy time inside the API call, when the thread is blocked. Pageable host memory is not recorded; an asynchronous call that returns only after its copy ended suggests it.
-- kind: summary
-- needs: memory_copies launches processes
-- local: summed_of_process
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, peer_gpu, stream_id, graph_exec_id
-- column: direction name -- H2D, D2H, D2D, P2P, H2H or NONE
-- column: api_name name -- call with the copy's correlation id, the innermost of several; null where none is recorded
-- column: kind text -- asynchronous or blocking by the name of the call, other for calls that are no copy, unknown without a call
-- column: copies count -- copies
-- column: total_bytes bytes -- sum of their sizes, null when no copy has a size
-- column: copy_ns ns -- sum of the durations of the copies
-- column: held_ns ns -- copy time inside the API call, during which the thread could launch nothing
-- column: held_pct pct -- share of copy_ns
-- column: returned_after count -- copies that had ended when their call returned
-- column: verdict text -- blocking, pageable memory suspected (most copies of an asynchronous call had ended when it returned, and its thread was blocked meanwhile), asynchronous, or null if unknown
WITH copies AS (
    SELECT
        {{ keys_of('c', ['process']) }}c.process, c.copy_id,
        CAST(c.direction AS VARCHAR) AS direction,
        c.bytes, c.correlation_id, c.start_ns, c.end_ns, c.duration_ns
    FROM memory_copies AS c{{ join_processes('c') }}
    WHERE c.valid
),
calls AS (
    SELECT process, target_id, CAST(api_name AS VARCHAR) AS api_name, api_start_ns, api_end_ns
    FROM launches
    WHERE kind = 'copy'
),
launched AS (
    SELECT
        {{ keys_in('c') }}c.direction, o.api_name, c.bytes, c.duration_ns,
        LEAST(o.api_end_ns, c.end_ns) - GREATEST(o.api_start_ns, c.start_ns) AS overlap_ns,
        CASE WHEN o.api_end_ns >= c.end_ns THEN 1 ELSE 0 END AS returned_after
    FROM copies AS c
    LEFT JOIN calls AS o ON o.process = c.process AND o.target_id = c.copy_id
),
summed_of_process AS (
    SELECT
        {{ keys }}direction, api_name,
        CAST(COUNT(*) AS BIGINT) AS copies,
        CAST(COUNT(bytes) AS BIGINT) AS sized,
        CAST(SUM(bytes) AS BIGINT) AS total_bytes,
        CAST(SUM(duration_ns) AS BIGINT) AS copy_ns,
        {{ sum_if('api_name IS NOT NULL AND overlap_ns > 0', 'overlap_ns') }} AS held_ns,
        CAST(SUM(returned_after) AS BIGINT) AS returned_after
    FROM launched
    GROUP BY {{ keys }}direction, api_name
),
summed AS (
    SELECT
        {{ keys }}direction, api_name,
        {{ sums('copies, sized, total_bytes, copy_ns, held_ns, returned_after') }}
    FROM summed_of_process
    GROUP BY {{ keys }}direction, api_name
),
named AS (
    SELECT
        {{ keys }}direction, api_name,
        CASE
            WHEN api_name IS NULL THEN 'unknown'
            WHEN LOWER(api_name) LIKE '%async%' THEN 'asynchronous'
            WHEN LOWER(api_name) LIKE '%memcpy%' THEN 'blocking'
            ELSE 'other'
        END AS kind,
        copies,
        CASE WHEN sized > 0 THEN total_bytes END AS total_bytes,
        copy_ns, held_ns, returned_after
    FROM summed
)
SELECT
    {{ keys }}direction,
    api_name,
    kind,
    copies,
    total_bytes,
    copy_ns,
    held_ns,
    {{ percent('held_ns', 'copy_ns') }} AS held_pct,
    returned_after,
    CASE
        WHEN kind = 'blocking' THEN 'blocking'
        WHEN kind = 'asynchronous' AND 2 * returned_after > copies AND held_ns > 0
            AND (direction = 'H2D' OR direction = 'D2H') THEN 'pageable memory suspected'
        WHEN kind = 'asynchronous' THEN 'asynchronous'
    END AS verdict
FROM named
{{ order_by('copy_ns DESC, direction, api_name') }}
