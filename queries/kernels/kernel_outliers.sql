-- title: Kernels with outlier dispatches
-- about: Kernels with outlier dispatches: much longer than others of the same kernel, GPU, launch shape and recorded inputs, and at the same place if places decide how long they take (see `dispatch_groups`). Most time lost first. The measure is the robust z-score: the distance from the median in units of 1.4826 times the median absolute deviation, a unit being at least 1% of the median and 20 ns. Communication kernels count without waiting for other GPUs (see `collectives`), by stream, and only if a single dispatch or at most a tenth of the dispatches are outliers: where message sizes are not recorded, more outliers suggest larger messages. `outlier_dispatches` lists every dispatch.
-- kind: summary
-- needs: slow_dispatches collective_kernels kernel_symbols processes
-- by: rank, gpu
-- dimensions: rank, gpu, process, device, node, hostname, category, queue_id, stream_id
-- param: min_z float = 5 [3, 1000000] -- robust z-score from which a dispatch is an outlier
-- param: min_ratio float = 1.5 [1, 1000000] -- and how many times the median it takes at least
-- param: top int = 0 -- first N kernels of each group, 0 = all
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: grid_x count -- work-items of the grid in x
-- column: grid_y count -- work-items of the grid in y
-- column: grid_z count -- work-items of the grid in z
-- column: workgroup_x count -- work-items of a workgroup in x
-- column: workgroup_y count -- work-items of a workgroup in y
-- column: workgroup_z count -- work-items of a workgroup in z
-- column: calls count -- dispatches of the same work as an outlier
-- column: outliers count -- those that are outliers
-- column: first_calls count -- outliers that are the first dispatch of their kind, see `kernel_warmup`
-- column: median_ns ns -- median duration of all
-- column: worst_ns ns -- longest outlier, of collectives without the wait
-- column: worst_z number -- its robust z-score
-- column: excess_ns ns -- time by which all outliers exceed the median
-- column: excess_pct pct -- excess_ns over the time that all dispatches would have taken at the median
-- column: worst_dispatch_id id -- dispatch with the highest score, the first of several
-- column: worst_process id -- process of that dispatch
{%- set shape = 'grid_x, grid_y, grid_z, workgroup_x, workgroup_y, workgroup_z' %}
{%- set dispatch = keys_and(['process']) ~ 'dispatch_id, kernel_name, ' ~ shape %}
{%- set measures = 'ordinal, calls, took_ns, median_ns, excess_ns, robust_z' %}
{%- set work = keys_and(['process']) ~ 'first_dispatch_id' %}
{%- set lost -%}
{{ keys }}kernel_name, {{ shape }}, calls, outliers, first_calls, median_ns, worst_ns, worst_z,
    excess_ns, excess_pct, worst_dispatch_id, worst_process
{%- endset %}
WITH {{ collective_waits() }},
outliers AS (
    SELECT
        {{ keys_of('d', ['process']) }}d.process, d.dispatch_id,
        {{ kernel_text('d') }},
        d.grid_x, d.grid_y, d.grid_z, d.workgroup_x, d.workgroup_y, d.workgroup_z,
        CASE WHEN CAST(d.category AS VARCHAR) = 'communication' THEN COALESCE(d.stream_id, -1) ELSE -2 END AS of_stream,
        d.first_dispatch_id, d.ordinal, d.calls,
        CASE WHEN w.wait_ns > 0 THEN d.took_ns - CAST(w.wait_ns AS BIGINT) ELSE d.took_ns END AS took_ns,
        d.median_ns,
        d.excess_ns - COALESCE(w.wait_ns, CAST(0 AS DOUBLE)) AS excess_ns,
        CASE
            WHEN w.wait_ns > CAST(0 AS DOUBLE) THEN d.robust_z * (d.excess_ns - w.wait_ns) / d.excess_ns
            ELSE d.robust_z
        END AS robust_z
    FROM slow_dispatches AS d
    LEFT JOIN waits AS w ON w.process = d.process AND w.dispatch_id = d.dispatch_id
    {{- join_symbols('d') }}{{ join_processes('d') }}
    WHERE d.robust_z * (d.excess_ns - COALESCE(w.wait_ns, CAST(0 AS DOUBLE))) >= CAST({{ min_z }} AS DOUBLE) * d.excess_ns
        AND CAST(d.took_ns AS DOUBLE) - COALESCE(w.wait_ns, CAST(0 AS DOUBLE)) >= CAST({{ min_ratio }} AS DOUBLE) * d.median_ns
),
counted AS (
    SELECT
        {{ dispatch }}, of_stream, first_dispatch_id, {{ measures }},
        COUNT(*) OVER (PARTITION BY process, first_dispatch_id) AS of_calls
    FROM outliers
),
turned AS (
    SELECT {{ dispatch }}, of_stream, first_dispatch_id, {{ measures }}, -robust_z AS less_z
    FROM counted
    WHERE of_stream = -2 OR of_calls = 1 OR 10 * of_calls <= calls
),
numbered AS (
    SELECT
        {{ dispatch }}, {{ measures }},
        ROW_NUMBER() OVER (
            PARTITION BY {{ keys }}kernel_name, {{ shape }}
            ORDER BY less_z NULLS LAST, process NULLS LAST, dispatch_id NULLS LAST
        ) AS place,
        ROW_NUMBER() OVER (PARTITION BY {{ work }} ORDER BY dispatch_id NULLS LAST) AS of_work
    FROM turned
),
summed AS (
    SELECT
        {{ keys }}kernel_name,
        {{ shape }},
        {{ sum_if('of_work = 1', 'calls') }} AS calls,
        CAST(COUNT(*) AS BIGINT) AS outliers,
        {{ sum_if('ordinal = 1') }} AS first_calls,
        SUM(CASE WHEN of_work = 1 THEN median_ns * CAST(calls AS DOUBLE) ELSE CAST(0 AS DOUBLE) END) AS usual_ns,
        MAX(took_ns) AS worst_ns,
        MAX(robust_z) AS worst_z,
        SUM(excess_ns) AS excess_ns,
        MAX(CASE WHEN place = 1 THEN dispatch_id END) AS worst_dispatch_id,
        MAX(CASE WHEN place = 1 THEN process END) AS worst_process
    FROM numbered
    GROUP BY {{ keys }}kernel_name, {{ shape }}
),
lost AS (
    SELECT
        {{ keys }}kernel_name, {{ shape }}, calls, outliers, first_calls,
        usual_ns / CAST(calls AS DOUBLE) AS median_ns,
        worst_ns, worst_z, excess_ns,
        CAST(100 AS DOUBLE) * excess_ns / NULLIF(usual_ns, CAST(0 AS DOUBLE)) AS excess_pct,
        worst_dispatch_id, worst_process, -excess_ns AS less_excess
    FROM summed
){{ ranked_step('lost', lost ~ ', less_excess', 'less_excess, kernel_name, ' ~ shape) }}
SELECT
    {{ lost }}
FROM {{ 'ranked' if top > 0 and by else 'lost' }}
{{ top_by('less_excess, kernel_name, ' ~ shape) }}
