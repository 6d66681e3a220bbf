-- title: Kernel time by category
-- about: Kernel time, calls and number of different kernels of each category, longest total first.
-- kind: summary
-- plot: categories label=category value=total_ns
-- needs: kernels kernel_symbols processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, queue_id, stream_id, tid, agent_id, region_name, graph_exec_id
-- column: category name -- kernel category
-- column: kernels count -- different names, in the name form that was asked for
-- column: calls count -- dispatches
-- column: total_ns ns -- sum of the durations
-- column: mean_ns ns -- mean duration
-- column: pct pct -- share of the kernel time of the group
-- column: cumulative_pct pct -- share of this category and all above it
WITH dispatches AS (
    SELECT
        {{ keys_of('k') }}{{ kernel_name('k') }}, k.category, k.duration_ns
    FROM kernels AS k{{ join_symbols('k') }}{{ join_processes('k') }}
    WHERE k.valid
),
per_kernel AS (
    SELECT
        {{ keys }}category, kernel_name,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns
    FROM dispatches
    GROUP BY {{ keys }}category, kernel_name
),
per_category AS (
    SELECT
        {{ keys }}category,
        CAST(COUNT(kernel_name) AS BIGINT) AS kernels,
        {{ sums('calls, total_ns') }}
    FROM per_kernel
    GROUP BY {{ keys }}category
),
labelled AS (
    SELECT {{ keys }}CAST(category AS VARCHAR) AS category, kernels, calls, total_ns
    FROM per_category
),
summed AS (
    SELECT
        {{ keys }}category, kernels, calls, total_ns,
        CAST(SUM(total_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns,
        CAST(SUM(total_ns) OVER (
            {{ per_group }}
            ORDER BY -total_ns NULLS LAST, category NULLS LAST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS BIGINT) AS running_ns
    FROM labelled
)
SELECT
    {{ keys }}category,
    kernels,
    calls,
    total_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    {{ percent('total_ns', 'group_ns') }} AS pct,
    {{ percent('running_ns', 'group_ns') }} AS cumulative_pct
FROM summed
{{ order_by('total_ns DESC, category') }}
