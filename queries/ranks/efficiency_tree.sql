-- title: Efficiency tree
-- about: Efficiency of GPUs as factors that multiply to the total, after POP and TALP: parallel efficiency (mean compute time over the time of the slowest GPU) = load balance × communication efficiency × orchestration efficiency. With --scope iteration, a row for each iteration, matched by its number over the ranks. With --by rank, the factors are those of the GPUs of each rank alone.
-- kind: summary
-- needs: gpu_segments iterations processes
-- by:
-- dimensions: rank, process, node, hostname
-- param: scope word = run [run, iteration] -- one row for the run, or one for each iteration
-- column: iteration id -- number of the iteration, null for the run
-- column: gpus count -- GPUs
-- column: time_ns ns -- longest time of a GPU: its span, or the iteration of its process
-- column: mean_compute_ns ns -- time with a compute kernel, mean of the GPUs
-- column: max_compute_ns ns -- the same, of the GPU that computes longest
-- column: max_busy_ns ns -- time with any kernel or copy, of the GPU that is busy longest
-- column: parallel_pct pct -- parallel efficiency: mean_compute_ns over time_ns, the product of the next three
-- column: balance_pct pct -- load balance: mean_compute_ns over max_compute_ns; low when a GPU has more work than others
-- column: communication_pct pct -- communication efficiency: max_compute_ns over max_busy_ns; low when communication and copies are exposed
-- column: orchestration_pct pct -- orchestration efficiency: max_busy_ns over time_ns; low when the GPUs wait for their hosts
{%- set lane = 'PARTITION BY process, gpu ORDER BY time_ns NULLS FIRST, edge NULLS FIRST, iteration NULLS FIRST' %}
{%- set so_far = lane ~ ' ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW' %}
WITH segments AS (
    SELECT
        process, gpu, start_ns, end_ns,
        CASE WHEN {{ during['compute'] }} THEN duration_ns ELSE 0 END AS compute_ns,
        CASE WHEN {{ during['busy'] }} THEN duration_ns ELSE 0 END AS busy_ns,
        CASE WHEN {{ during['compute'] }} THEN end_ns END AS compute_end_ns,
        CASE WHEN {{ during['busy'] }} THEN end_ns END AS busy_end_ns
    FROM gpu_segments
),
{%- if scope == 'iteration' %}
gpus AS (
    SELECT DISTINCT process, gpu
    FROM gpu_segments
),
-- Time before an edge is that of all segments before it, less what the last of them has after it.
events AS (
    SELECT process, gpu, start_ns AS time_ns, 0 AS edge, 0 AS iteration, compute_ns, busy_ns, compute_end_ns, busy_end_ns
    FROM segments
    UNION ALL
    SELECT
        i.process, g.gpu, i.start_ns AS time_ns, 1 AS edge, i.iteration,
        0 AS compute_ns, 0 AS busy_ns, CAST(NULL AS BIGINT) AS compute_end_ns, CAST(NULL AS BIGINT) AS busy_end_ns
    FROM iterations AS i
    JOIN gpus AS g ON g.process = i.process
    UNION ALL
    SELECT
        i.process, g.gpu, i.end_ns AS time_ns, 2 AS edge, i.iteration,
        0 AS compute_ns, 0 AS busy_ns, CAST(NULL AS BIGINT) AS compute_end_ns, CAST(NULL AS BIGINT) AS busy_end_ns
    FROM iterations AS i
    JOIN gpus AS g ON g.process = i.process
),
reached AS (
    SELECT
        process, gpu, time_ns, edge, iteration,
        SUM(compute_ns) OVER ({{ so_far }}) AS compute_ns,
        SUM(busy_ns) OVER ({{ so_far }}) AS busy_ns,
        MAX(compute_end_ns) OVER ({{ so_far }}) AS compute_end_ns,
        MAX(busy_end_ns) OVER ({{ so_far }}) AS busy_end_ns
    FROM events
),
edges AS (
    SELECT
        process, gpu, edge, iteration, time_ns,
        compute_ns - CASE WHEN compute_end_ns > time_ns THEN compute_end_ns - time_ns ELSE 0 END AS compute_ns,
        busy_ns - CASE WHEN busy_end_ns > time_ns THEN busy_end_ns - time_ns ELSE 0 END AS busy_ns
    FROM reached
    WHERE edge > 0
),
times AS (
    SELECT
        process, gpu, iteration,
        CAST(SUM(CASE WHEN edge = 2 THEN time_ns ELSE -time_ns END) AS BIGINT) AS time_ns,
        CAST(SUM(CASE WHEN edge = 2 THEN compute_ns ELSE -compute_ns END) AS BIGINT) AS compute_ns,
        CAST(SUM(CASE WHEN edge = 2 THEN busy_ns ELSE -busy_ns END) AS BIGINT) AS busy_ns
    FROM edges
    GROUP BY process, gpu, iteration
),
{%- else %}
times AS (
    SELECT
        process, gpu,
        CAST(NULL AS BIGINT) AS iteration,
        CAST(SUM(end_ns - start_ns) AS BIGINT) AS time_ns,
        {{ sums('compute_ns, busy_ns') }}
    FROM segments
    GROUP BY process, gpu
),
{%- endif %}
of_gpus AS (
    SELECT
        {%- for column in by %} {{ 'p.' ~ column }},{% endfor %}
        t.iteration, t.time_ns, t.compute_ns, t.busy_ns
    FROM times AS t
    JOIN processes AS p ON p.process = t.process
    WHERE p.role = 'trace'
),
summed AS (
    SELECT
        {{ keys }}iteration,
        CAST(COUNT(*) AS BIGINT) AS gpus,
        MAX(time_ns) AS time_ns,
        CAST(SUM(compute_ns) AS BIGINT) AS compute_ns,
        MAX(compute_ns) AS max_compute_ns,
        MAX(busy_ns) AS max_busy_ns
    FROM of_gpus
    GROUP BY {{ keys }}iteration
)
SELECT
    {{ keys }}iteration,
    gpus,
    time_ns,
    {{ ratio('compute_ns', 'gpus') }} AS mean_compute_ns,
    max_compute_ns,
    max_busy_ns,
    {{ percent('compute_ns', 'gpus * time_ns') }} AS parallel_pct,
    {{ percent('compute_ns', 'gpus * max_compute_ns') }} AS balance_pct,
    {{ percent('max_compute_ns', 'max_busy_ns') }} AS communication_pct,
    {{ percent('max_busy_ns', 'time_ns') }} AS orchestration_pct
FROM summed
{{ order_by('iteration') }}
