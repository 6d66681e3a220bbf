-- title: Short kernels
-- about: Kernels with dispatches shorter than a threshold, which cost more to launch than to run: their number and time, longest total first.
-- kind: summary
-- needs: kernels kernel_symbols processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, category, queue_id, stream_id, tid, agent_id, region_name, graph_exec_id
-- param: threshold_us float = 10 [0, 1000000000] -- a dispatch is short when it takes less than this many microseconds
-- param: top int = 0 -- first N kernels of each group, 0 = all
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: calls count -- short dispatches
-- column: total_ns ns -- sum of their durations
-- column: mean_ns ns -- their mean duration
-- column: pct_of_kernel_time pct -- share of the time of all kernels of the group, the long ones included
WITH dispatches AS (
    SELECT
        {{ keys_of('k') }}{{ kernel_name('k') }},
        k.duration_ns,
        CASE WHEN CAST(k.duration_ns AS DOUBLE) < CAST('{{ threshold_us }}' AS DOUBLE) * CAST(1000 AS DOUBLE) THEN 1 ELSE 0 END AS short
    FROM kernels AS k{{ join_symbols('k') }}{{ join_processes('k') }}
    WHERE k.valid
),
per_name AS (
    SELECT
        {{ keys }}kernel_name,
        CAST(SUM(short) AS BIGINT) AS calls,
        {{ sum_if('short > 0', 'duration_ns') }} AS total_ns,
        CAST(SUM(duration_ns) AS BIGINT) AS kernel_ns
    FROM dispatches
    GROUP BY {{ keys }}kernel_name
),
labelled AS (
    SELECT
        {{ keys }}CAST(kernel_name AS VARCHAR) AS kernel_name, calls, total_ns,
        CAST(SUM(kernel_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns
    FROM per_name
),
shorts AS (
    SELECT
        {{ keys }}kernel_name, calls, total_ns, group_ns
        {{- place_by('-total_ns, kernel_name') }}
    FROM labelled
    WHERE calls > 0
)
SELECT
    {{ keys }}kernel_name,
    calls,
    total_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    {{ percent('total_ns', 'group_ns') }} AS pct_of_kernel_time
FROM shorts
{{ top_by('total_ns DESC, kernel_name') }}
