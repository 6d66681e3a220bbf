-- title: Fills by launching call
-- about: Fills of memory, which are kernels that HIP runs for hipMemset and other calls, by launching API call, with the time of fills inside the call, when the thread is blocked. Their sizes are not recorded with the kernels.
-- kind: summary
-- needs: kernels launches processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, stream_id, graph_exec_id
-- column: api_name name -- call with the kernel's correlation id, the innermost of several; null where none is recorded
-- column: kind text -- asynchronous or blocking by the name of the call, other for calls that are no fill, unknown without a call
-- column: fills count -- fills
-- column: fill_ns ns -- sum of their durations
-- column: mean_ns ns -- mean duration
-- column: max_ns ns -- longest fill
-- column: held_ns ns -- time of fills inside the API call, during which the thread could launch nothing
-- column: held_pct pct -- share of fill_ns
-- column: returned_after count -- fills that had ended when their call returned
-- column: verdict text -- blocking (a synchronous call, or one after which most fills had ended), asynchronous, or null if unknown
WITH fills AS (
    SELECT {{ keys_of('k', ['process']) }}k.process, k.dispatch_id, k.start_ns, k.end_ns, k.duration_ns
    FROM kernels AS k{{ join_processes('k') }}
    WHERE k.valid AND CAST(k.category AS VARCHAR) = 'fill'
),
calls AS (
    SELECT f.process, f.dispatch_id, l.api_name, l.api_start_ns, l.api_end_ns
    FROM fills AS f
    JOIN launches AS l ON l.process = f.process AND l.target_id = f.dispatch_id
    WHERE CAST(l.kind AS VARCHAR) = 'kernel'
),
launched AS (
    SELECT
        {{ keys_in('f') }}CAST(o.api_name AS VARCHAR) AS api_name, f.duration_ns,
        LEAST(o.api_end_ns, f.end_ns) - GREATEST(o.api_start_ns, f.start_ns) AS overlap_ns,
        CASE WHEN o.api_end_ns >= f.end_ns THEN 1 ELSE 0 END AS returned_after
    FROM fills AS f
    LEFT JOIN calls AS o ON o.process = f.process AND o.dispatch_id = f.dispatch_id
),
summed AS (
    SELECT
        {{ keys }}api_name,
        CAST(COUNT(*) AS BIGINT) AS fills,
        CAST(SUM(duration_ns) AS BIGINT) AS fill_ns,
        MAX(duration_ns) AS max_ns,
        {{ sum_if('api_name IS NOT NULL AND overlap_ns > 0', 'overlap_ns') }} AS held_ns,
        CAST(SUM(returned_after) AS BIGINT) AS returned_after
    FROM launched
    GROUP BY {{ keys }}api_name
),
named AS (
    SELECT
        {{ keys }}api_name,
        CASE
            WHEN api_name IS NULL THEN 'unknown'
            WHEN LOWER(api_name) LIKE '%memset%async%' THEN 'asynchronous'
            WHEN LOWER(api_name) LIKE '%memset%' THEN 'blocking'
            ELSE 'other'
        END AS kind,
        fills, fill_ns, max_ns, held_ns, returned_after
    FROM summed
)
SELECT
    {{ keys }}api_name,
    kind,
    fills,
    fill_ns,
    {{ ratio('fill_ns', 'fills') }} AS mean_ns,
    max_ns,
    held_ns,
    {{ percent('held_ns', 'fill_ns') }} AS held_pct,
    returned_after,
    CASE
        WHEN kind = 'blocking' THEN 'blocking'
        WHEN kind = 'asynchronous' AND 2 * returned_after > fills AND held_ns > 0 THEN 'blocking'
        WHEN kind = 'asynchronous' THEN 'asynchronous'
    END AS verdict
FROM named
{{ order_by('fill_ns DESC, api_name') }}
