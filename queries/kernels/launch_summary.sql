-- title: Launch summary
-- about: How long each kernel took from the API call that launched it: the call, the wait for the GPU, the kernel. A kernel is launch bound when at least --launch-bound-pct of its launches are: the GPU stood idle for longer than the kernel ran, and its queue had run empty before the call returned, or it started as soon after the call as kernels do whose queue had. What waits for work of another queue is not launch bound. The host then sets the pace; fewer and longer kernels or graphs help.
-- kind: summary
-- needs: dispatch_launches kernel_symbols processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, category, queue_id, stream_id, tid, api_name
-- param: top int = 0 -- first N kernels of each group, 0 = all
-- param: launch_bound_pct float = 50 [0, 100] -- share of launches from which a kernel is launch bound
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: calls count -- dispatches
-- column: without_launch count -- those whose launching call was not recorded; they count in calls and kernel times only
-- column: without_launch_pct pct -- their share of the dispatches
-- column: mean_api_ns ns -- mean length of the launching call; one call may launch many kernels, as a graph does
-- column: median_api_ns ns -- median length of the launching call
-- column: mean_queue_delay_ns ns -- mean time from the end of the call to the start on the GPU; negative when the GPU starts first
-- column: median_queue_delay_ns ns -- median of that time
-- column: min_queue_delay_ns ns -- shortest
-- column: max_queue_delay_ns ns -- longest
-- column: mean_kernel_ns ns -- mean duration
-- column: median_kernel_ns ns -- median duration
-- column: total_kernel_ns ns -- sum of the durations
-- column: prequeued_pct pct -- share of the launches whose call returned while an earlier dispatch of their queue still ran
-- column: exposed_launch_ns ns -- sum of the time the GPU stood idle for it: from the start of the call, or the end of the kernels and copies before if later, to its start
-- column: launch_bound_calls_pct pct -- share of the launches that are launch bound
-- column: launch_bound text -- yes, no, or unknown where no launch was recorded
WITH dispatches AS (
    SELECT
        {{ keys_of('d') }}{{ kernel_name('d') }},
        d.launched, d.api_ns, d.queue_delay_ns, d.prequeued, d.exposed_launch_ns, d.launch_bound, d.kernel_ns
    FROM dispatch_launches AS d{{ join_symbols('d') }}{{ join_processes('d') }}
),
per_name AS (
    SELECT
        {{ keys }}kernel_name,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(launched) AS BIGINT) AS launched_calls,
        CAST(SUM(api_ns) AS BIGINT) AS api_sum_ns,
        {{- wanted('median_api_ns', 'MEDIAN(CAST(api_ns AS DOUBLE))') }}
        CAST(SUM(queue_delay_ns) AS BIGINT) AS delay_sum_ns,
        {{- wanted('median_queue_delay_ns', 'MEDIAN(CAST(queue_delay_ns AS DOUBLE))') }}
        MIN(queue_delay_ns) AS min_queue_delay_ns,
        MAX(queue_delay_ns) AS max_queue_delay_ns,
        CAST(SUM(kernel_ns) AS BIGINT) AS total_kernel_ns,
        {{- wanted('median_kernel_ns', 'MEDIAN(CAST(kernel_ns AS DOUBLE))') }}
        CAST(SUM(prequeued) AS BIGINT) AS prequeued_calls,
        CAST(SUM(exposed_launch_ns) AS BIGINT) AS exposed_ns,
        CAST(SUM(launch_bound) AS BIGINT) AS bound_calls
    FROM dispatches
    GROUP BY {{ keys }}kernel_name
),
labelled AS (
    SELECT
        {{ keys }}CAST(kernel_name AS VARCHAR) AS kernel_name,
        calls,
        calls - launched_calls AS without_launch,
        NULLIF(CAST(launched_calls AS DOUBLE), CAST(0 AS DOUBLE)) AS launches,
        api_sum_ns,
        {{- wanted('median_api_ns') }}
        delay_sum_ns,
        {{- wanted('median_queue_delay_ns') }}
        min_queue_delay_ns, max_queue_delay_ns, total_kernel_ns,
        {{- wanted('median_kernel_ns') }}
        prequeued_calls,
        CASE WHEN launched_calls > 0 THEN exposed_ns END AS exposed_launch_ns,
        bound_calls
        {{- place_by('-total_kernel_ns, CAST(kernel_name AS VARCHAR)') }}
    FROM per_name
),
shared AS (
    SELECT
        {{ keys }}kernel_name, calls, without_launch, api_sum_ns,
        {{- wanted('median_api_ns') }}
        delay_sum_ns,
        {{- wanted('median_queue_delay_ns') }}
        min_queue_delay_ns, max_queue_delay_ns, total_kernel_ns,
        {{- wanted('median_kernel_ns') }}
        launches,
        CAST(100 AS DOUBLE) * CAST(prequeued_calls AS DOUBLE) / launches AS prequeued_pct,
        exposed_launch_ns,
        CAST(100 AS DOUBLE) * CAST(bound_calls AS DOUBLE) / launches AS launch_bound_calls_pct
    FROM labelled
    {%- if top > 0 and by %}
    WHERE place <= {{ top }}
    {%- endif %}
)
SELECT
    {{ keys }}kernel_name,
    calls,
    without_launch,
    CAST(100 AS DOUBLE) * CAST(without_launch AS DOUBLE) / CAST(calls AS DOUBLE) AS without_launch_pct,
    CAST(api_sum_ns AS DOUBLE) / launches AS mean_api_ns,
    {{- wanted('median_api_ns') }}
    CAST(delay_sum_ns AS DOUBLE) / launches AS mean_queue_delay_ns,
    {{- wanted('median_queue_delay_ns') }}
    min_queue_delay_ns,
    max_queue_delay_ns,
    CAST(total_kernel_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_kernel_ns,
    {{- wanted('median_kernel_ns') }}
    total_kernel_ns,
    prequeued_pct,
    exposed_launch_ns,
    launch_bound_calls_pct,
    CASE
        WHEN launch_bound_calls_pct IS NULL THEN 'unknown'
        WHEN launch_bound_calls_pct >= CAST({{ launch_bound_pct }} AS DOUBLE) THEN 'yes'
        ELSE 'no'
    END AS launch_bound
FROM shared
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    total_kernel_ns DESC NULLS LAST,
    kernel_name NULLS LAST
{%- if top > 0 and not by %}
LIMIT {{ top }}
{%- endif %}
