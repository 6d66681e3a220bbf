-- title: Kernels with outlying dispatches
-- about: Dispatches that took much longer than others of the same kernel, GPU and launch shape, most time lost first. The measure is the robust z-score: the distance from the median in units of 1.4826 times the median absolute deviation, a unit being at least 1 % of the median and 20 ns. Communication kernels count without the wait for the other GPUs of their collective, see `collectives`, by stream, and where they are one or a tenth of the calls at most: what they move is not recorded, and more of them move more. `outlier_dispatches` lists them one by one.
-- kind: summary
-- needs: slow_dispatches collective_kernels kernel_symbols processes
-- by: rank, gpu
-- dimensions: rank, gpu, process, device, node, hostname, category, queue_id, stream_id
-- param: least_z float = 5 [3, 1000000] -- robust z-score from which a dispatch is an outlier
-- param: least_ratio float = 1.5 [1, 1000000] -- and how many times the median it takes at least
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
-- column: calls count -- dispatches of the same kernel, GPU and shape
-- column: outliers count -- those that are outliers
-- column: first_calls count -- outliers that are the first dispatch of their kind, see `kernel_warmup`
-- column: median_ns ns -- median duration of all
-- column: worst_ns ns -- longest outlier, of collectives without the wait
-- column: worst_z number -- its robust z-score
-- column: excess_ns ns -- time by which all outliers exceed the median
-- column: excess_pct pct -- excess_ns over the time that all dispatches would have taken at the median
-- column: worst_dispatch_id id -- dispatch with the highest score, the first of several
-- column: worst_process id -- process of that dispatch
{%- set keys = by | join(', ') ~ (', ' if by else '') %}
{%- set shape = 'grid_x, grid_y, grid_z, workgroup_x, workgroup_y, workgroup_z' %}
WITH together AS (
    SELECT collective, MIN(duration_ns) AS cost_ns
    FROM collective_kernels
    WHERE gpus > 1 AND collective IS NOT NULL
    GROUP BY collective
),
waits AS (
    SELECT k.process, k.dispatch_id, CAST(k.duration_ns - t.cost_ns AS DOUBLE) AS wait_ns
    FROM collective_kernels AS k
    JOIN together AS t ON t.collective = k.collective
),
outliers AS (
    SELECT
        {%- for column in by if column not in ['process'] %}
        {{ 'p.' if column in ['node', 'hostname'] else 'd.' }}{{ column }},
        {%- endfor %}
        d.process,
        d.dispatch_id,
        {%- if name == 'short' %}
        CAST(d.short_name AS VARCHAR) AS kernel_name,
        {%- elif name == 'base' %}
        COALESCE(CAST(s.base_name AS VARCHAR), CAST(d.short_name AS VARCHAR)) AS kernel_name,
        {%- elif name == 'mangled' %}
        COALESCE(CAST(s.mangled_name AS VARCHAR), CAST(d.kernel_name AS VARCHAR)) AS kernel_name,
        {%- else %}
        CAST(d.kernel_name AS VARCHAR) AS kernel_name,
        {%- endif %}
        d.grid_x, d.grid_y, d.grid_z, d.workgroup_x, d.workgroup_y, d.workgroup_z,
        COALESCE(d.gpu, -1) AS of_gpu,
        CASE WHEN CAST(d.category AS VARCHAR) = 'communication' THEN COALESCE(d.stream_id, -1) ELSE -2 END AS of_stream,
        d.kernel_name AS full_name,
        d.ordinal,
        d.calls,
        CASE WHEN w.wait_ns > 0 THEN d.took_ns - CAST(w.wait_ns AS BIGINT) ELSE d.took_ns END AS took_ns,
        d.median_ns,
        d.excess_ns - COALESCE(w.wait_ns, CAST(0 AS DOUBLE)) AS excess_ns,
        CASE
            WHEN w.wait_ns > CAST(0 AS DOUBLE) THEN d.robust_z * (d.excess_ns - w.wait_ns) / d.excess_ns
            ELSE d.robust_z
        END AS robust_z
    FROM slow_dispatches AS d
    LEFT JOIN waits AS w ON w.process = d.process AND w.dispatch_id = d.dispatch_id
    {%- if name in ['base', 'mangled'] %}
    LEFT JOIN kernel_symbols AS s ON s.process = d.process AND s.kernel_id = d.kernel_id
    {%- endif %}
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = d.process
    {%- endif %}
    WHERE d.robust_z * (d.excess_ns - COALESCE(w.wait_ns, CAST(0 AS DOUBLE))) >= CAST({{ least_z }} AS DOUBLE) * d.excess_ns
        AND CAST(d.took_ns AS DOUBLE) - COALESCE(w.wait_ns, CAST(0 AS DOUBLE)) >= CAST({{ least_ratio }} AS DOUBLE) * d.median_ns
),
counted AS (
    SELECT
        {{ keys }}{{ 'process, ' if 'process' not in by }}dispatch_id, kernel_name, {{ shape }}, of_gpu, of_stream, full_name, ordinal, calls, took_ns, median_ns, excess_ns, robust_z,
        COUNT(*) OVER (
            PARTITION BY {{ keys }}{{ 'process, ' if 'process' not in by }}full_name, of_gpu, of_stream, {{ shape }}
        ) AS of_calls
    FROM outliers
),
turned AS (
    SELECT {{ keys }}{{ 'process, ' if 'process' not in by }}dispatch_id, kernel_name, {{ shape }}, of_gpu, of_stream, full_name, ordinal, calls, took_ns, median_ns, excess_ns, robust_z, -robust_z AS less_z
    FROM counted
    WHERE of_stream = -2 OR of_calls = 1 OR 10 * of_calls <= calls
),
ranked AS (
    SELECT
        {{ keys }}{{ 'process, ' if 'process' not in by }}dispatch_id, kernel_name, {{ shape }}, ordinal, calls, took_ns, median_ns, excess_ns, robust_z,
        ROW_NUMBER() OVER (
            PARTITION BY {{ keys }}kernel_name, {{ shape }}
            ORDER BY less_z NULLS LAST, process NULLS LAST, dispatch_id NULLS LAST
        ) AS place,
        ROW_NUMBER() OVER (
            PARTITION BY {{ keys }}{{ 'process, ' if 'process' not in by }}full_name, of_gpu, of_stream, {{ shape }}
            ORDER BY dispatch_id NULLS LAST
        ) AS of_work
    FROM turned
),
summed AS (
    SELECT
        {{ keys }}kernel_name,
        {{ shape }},
        CAST(SUM(CASE WHEN of_work = 1 THEN calls ELSE 0 END) AS BIGINT) AS calls,
        CAST(COUNT(*) AS BIGINT) AS outliers,
        CAST(SUM(CASE WHEN ordinal = 1 THEN 1 ELSE 0 END) AS BIGINT) AS first_calls,
        SUM(CASE WHEN of_work = 1 THEN median_ns * CAST(calls AS DOUBLE) ELSE CAST(0 AS DOUBLE) END) AS usual_ns,
        MAX(took_ns) AS worst_ns,
        MAX(robust_z) AS worst_z,
        SUM(excess_ns) AS excess_ns,
        MAX(CASE WHEN place = 1 THEN dispatch_id END) AS worst_dispatch_id,
        MAX(CASE WHEN place = 1 THEN process END) AS worst_process
    FROM ranked
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
){%- if top > 0 and by %},
listed AS (
    SELECT
        {{ keys }}kernel_name, {{ shape }}, calls, outliers, first_calls, median_ns, worst_ns, worst_z, excess_ns, excess_pct, worst_dispatch_id, worst_process, less_excess,
        ROW_NUMBER() OVER (
            PARTITION BY {{ by | join(', ') }}
            ORDER BY less_excess NULLS LAST, kernel_name NULLS LAST, {{ shape | replace(',', ' NULLS LAST,') }} NULLS LAST
        ) AS listed_place
    FROM lost
)
{%- endif %}
SELECT
    {{ keys }}kernel_name,
    {{ shape }},
    calls,
    outliers,
    first_calls,
    median_ns,
    worst_ns,
    worst_z,
    excess_ns,
    excess_pct,
    worst_dispatch_id,
    worst_process
FROM {{ 'listed' if top > 0 and by else 'lost' }}
{%- if top > 0 and by %}
WHERE listed_place <= {{ top }}
{%- endif %}
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    less_excess NULLS LAST,
    kernel_name NULLS LAST,
    {{ shape | replace(',', ' NULLS LAST,') }} NULLS LAST
{%- if top > 0 and not by %}
LIMIT {{ top }}
{%- endif %}
