-- title: Kernels by launch shape
-- about: Time and calls of every kernel for each grid and workgroup it was launched with, longest total first.
-- kind: summary
-- needs: kernels kernel_symbols processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, category, queue_id, stream_id, tid, agent_id, region_name, graph_exec_id
-- param: top int = 0 -- first N rows of each group, 0 = all
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: grid_x count -- work-items of the grid in x
-- column: grid_y count -- work-items of the grid in y
-- column: grid_z count -- work-items of the grid in z
-- column: workgroup_x count -- work-items of a workgroup in x
-- column: workgroup_y count -- work-items of a workgroup in y
-- column: workgroup_z count -- work-items of a workgroup in z
-- column: workgroups count -- workgroups of a dispatch, partial ones included; null without a workgroup size
-- column: calls count -- dispatches
-- column: total_ns ns -- sum of the durations
-- column: mean_ns ns -- mean duration
-- column: median_ns ns -- median duration
-- column: min_ns ns -- shortest dispatch
-- column: max_ns ns -- longest dispatch
-- column: pct pct -- share of the kernel time of the group
{%- set shape = 'grid_x, grid_y, grid_z, workgroup_x, workgroup_y, workgroup_z' %}
WITH dispatches AS (
    SELECT
        {{ keys_of('k') }}{{ kernel_name('k') }},
        k.grid_x, k.grid_y, k.grid_z, k.workgroup_x, k.workgroup_y, k.workgroup_z, k.duration_ns
    FROM kernels AS k{{ join_symbols('k') }}{{ join_processes('k') }}
    WHERE k.valid
),
per_shape AS (
    SELECT
        {{ keys }}kernel_name,
        {{ shape }},
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        MEDIAN(CAST(duration_ns AS DOUBLE)) AS median_ns,
        MIN(duration_ns) AS min_ns,
        MAX(duration_ns) AS max_ns
    FROM dispatches
    GROUP BY {{ keys }}kernel_name, {{ shape }}
),
labelled AS (
    SELECT
        {{ keys }}CAST(kernel_name AS VARCHAR) AS kernel_name,
        {{ shape }},
        CEIL(CAST(grid_x AS DOUBLE) / CAST(NULLIF(workgroup_x, 0) AS DOUBLE))
            * CEIL(CAST(grid_y AS DOUBLE) / CAST(NULLIF(workgroup_y, 0) AS DOUBLE))
            * CEIL(CAST(grid_z AS DOUBLE) / CAST(NULLIF(workgroup_z, 0) AS DOUBLE)) AS workgroups,
        calls, total_ns, median_ns, min_ns, max_ns
    FROM per_shape
),
summed AS (
    SELECT
        {{ keys }}kernel_name,
        {{ shape }},
        TRY_CAST(workgroups AS BIGINT) AS workgroups,
        calls, total_ns, median_ns, min_ns, max_ns,
        CAST(SUM(total_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns
        {{- place_by('-total_ns, kernel_name, ' ~ shape) }}
    FROM labelled
)
SELECT
    {{ keys }}kernel_name,
    {{ shape }},
    workgroups,
    calls,
    total_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    median_ns,
    min_ns,
    max_ns,
    {{ percent('total_ns', 'group_ns') }} AS pct
FROM summed
{{ top_by('total_ns DESC, kernel_name, ' ~ shape) }}
