-- title: Kernel slack
-- about: How critical each kernel is: its time on the critical path of its process, and how much longer its dispatches could take, with all that depends on them shifted, before the work would end later.
-- kind: summary
-- needs: dispatch_slack kernel_symbols processes
-- by: rank
-- dimensions: rank, gpu, process, device, node, hostname, category, queue_id, stream_id
-- param: top int = 0 -- first N kernels of each group, 0 = all
-- column: rank id -- rank
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: calls count -- dispatches
-- column: critical_calls count -- dispatches on the path that take time
-- column: total_ns ns -- sum of the durations
-- column: path_ns ns -- part of it on the path
-- column: critical_pct pct -- share of it
-- column: without_slack count -- dispatches that could not take longer; they are on the path, or another path is as long
-- column: min_slack_ns ns -- least slack of a dispatch
-- column: median_slack_ns ns -- median slack
-- column: max_slack_ns ns -- largest slack
WITH dispatches AS (
    SELECT
        {{ keys_of('d') }}{{ kernel_name('d') }}, d.kernel_ns, d.path_ns, d.slack_ns
    FROM dispatch_slack AS d{{ join_symbols('d') }}{{ join_processes('d') }}
),
summed AS (
    SELECT
        {{ keys }}kernel_name,
        CAST(COUNT(*) AS BIGINT) AS calls,
        {{ sum_if('path_ns > 0') }} AS critical_calls,
        CAST(SUM(kernel_ns) AS BIGINT) AS total_ns,
        CAST(SUM(path_ns) AS BIGINT) AS path_ns,
        {{ sum_if('slack_ns = 0') }} AS without_slack,
        CAST(SUM(0 - kernel_ns) AS BIGINT) AS minus_total_ns,
        MIN(slack_ns) AS min_slack_ns,
        MEDIAN(CAST(slack_ns AS DOUBLE)) AS median_slack_ns,
        MAX(slack_ns) AS max_slack_ns
    FROM dispatches
    GROUP BY {{ keys }}kernel_name
),
labelled AS (
    SELECT
        {{ keys }}CAST(kernel_name AS VARCHAR) AS kernel_name,
        calls, critical_calls, total_ns, path_ns, without_slack, min_slack_ns, median_slack_ns, max_slack_ns,
        ROW_NUMBER() OVER (
            {{ per_group }} ORDER BY {{ nulls_last('-path_ns, minus_total_ns, CAST(kernel_name AS VARCHAR)') }}
        ) AS place
    FROM summed
)
SELECT
    {{ keys }}kernel_name,
    calls,
    critical_calls,
    total_ns,
    path_ns,
    {{ percent('path_ns', 'total_ns') }} AS critical_pct,
    without_slack,
    min_slack_ns,
    median_slack_ns,
    max_slack_ns
FROM labelled{{ where_place() }}
{{ order_by('path_ns DESC, total_ns DESC, kernel_name') }}
