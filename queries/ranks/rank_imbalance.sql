-- title: Rank imbalance
-- about: Imbalance of the GPUs of the ranks, by metric. For communication, the GPU with the least time arrives late and the others wait for it. Processes without GPU work are excluded, and so are other programs next to the run (`programs`).
-- kind: summary
-- plot: bars label=metric value=excess_pct role=neutral
-- needs: gpu_segments kernels memory_copies iterations kernel_symbols programs processes
-- sums: gpu_segments
-- by:
-- dimensions: node, hostname, category, kernel_name
-- param: metric word = all [all, kernel_time, mean_kernel, dispatches, span, busy, idle, compute, communication, exposed_communication, copy, exposed_copy, copied_bytes, iteration_time] -- what to compare; all are kernel_time and the times after dispatches up to exposed_copy, by category or kernel_name kernel_time and mean_kernel
-- column: metric text -- what is compared: a value for each used GPU, of iteration_time (the median of the steady ones) for each process
-- column: gpus count -- values that are compared; a GPU without any of a category or kernel counts with 0, but has no mean; of copied_bytes, a copy between two GPUs counts for both, and a GPU with a copy of unknown size is left out
-- column: min_ns ns -- least value; min_dispatches and min_bytes of metrics of these units, and so on
-- column: median_ns ns -- median
-- column: mean_ns ns -- mean
-- column: max_ns ns -- greatest value
-- column: excess_pct pct -- how far the greatest is above the mean: max/mean - 1
-- column: cov_pct pct -- coefficient of variation: standard deviation of the values over their mean
-- column: max_vs_median number -- greatest value over the median
-- column: worst_rank id -- rank with the greatest value, the first of equals
-- column: worst_gpu id -- its GPU
-- column: least_rank id -- rank with the minimum value, the first of equals
-- column: least_gpu id -- its GPU
{%- set of_kernels = ['kernel_time', 'mean_kernel', 'dispatches'] %}
{%- set of_segments = ['span', 'busy', 'idle', 'compute', 'communication', 'exposed_communication', 'copy', 'exposed_copy'] %}
{%- set work = by | select('in', ['category', 'kernel_name']) | list %}
{%- set places = by | reject('in', ['category', 'kernel_name']) | list %}
{%- set work_keys = work | join(', ') ~ (', ' if work else '') %}
{%- set all_metrics = ['kernel_time', 'mean_kernel'] if work else ['kernel_time'] + of_segments %}
{%- set metrics = all_metrics if metric == 'all' else [metric] %}
{%- if work and metric not in ['all'] + of_kernels %}
{{- refuse(metric ~ ' is not known of a ' ~ work | join(' or ') ~ '; group it by node or hostname, or choose one of ' ~ of_kernels | join(', ')) }}
{%- endif %}
{%- set unit = {'dispatches': 'dispatches', 'copied_bytes': 'bytes'}[metric] if metric in ['dispatches', 'copied_bytes'] else 'ns' %}
{%- set kernels_too = metrics | select('in', of_kernels) | list %}
WITH segment_times AS (
    SELECT
        process, rank, gpu
        {%- for one in of_segments %},
        CAST(SUM(CASE WHEN {{ during[one | replace('communication', 'comm')] }} THEN duration_ns ELSE 0 END) AS DOUBLE) AS {{ one }}
        {%- endfor %}
    FROM gpu_segments
    GROUP BY process, rank, gpu
),
{%- if kernels_too %}
dispatched AS (
    SELECT
        k.process, k.rank, k.gpu,
        {{ 'k.category, ' if 'category' in work }}{{ (kernel_name('k') ~ ', ') if 'kernel_name' in work }}k.duration_ns
    FROM kernels AS k{{ join_symbols('k', 'kernel_name' in work) }}
    WHERE k.valid
),
kernel_sums AS (
    SELECT
        process, rank, gpu, {{ work_keys }}
        CAST(COUNT(*) AS BIGINT) AS dispatches,
        CAST(SUM(duration_ns) AS BIGINT) AS kernel_ns
    FROM dispatched
    GROUP BY process, rank, gpu{{ ', ' ~ work | join(', ') if work else '' }}
),
kernel_times AS (
    SELECT
        process, rank, COALESCE(gpu, -1) AS gpu{{ ', ' ~ texts(work | join(', ')) if work }},
        CAST(dispatches AS DOUBLE) AS dispatches,
        CAST(kernel_ns AS DOUBLE) AS kernel_time,
        CAST(kernel_ns AS DOUBLE) / CAST(dispatches AS DOUBLE) AS mean_kernel
    FROM kernel_sums
),
{%- endif %}
{%- if 'copied_bytes' in metrics %}
-- A copy between GPUs is work of both.
copy_ends AS (
    SELECT process, gpu, bytes
    FROM memory_copies
    WHERE valid
    UNION ALL
    SELECT process, peer_gpu AS gpu, bytes
    FROM memory_copies
    WHERE valid AND peer_gpu IS NOT NULL
),
copied AS (
    SELECT
        process, gpu,
        COUNT(*) AS copies,
        CASE WHEN COUNT(bytes) = COUNT(*) THEN CAST(CAST(SUM(bytes) AS BIGINT) AS DOUBLE) END AS copied_bytes
    FROM copy_ends
    GROUP BY process, gpu
),
{%- endif %}
{%- if 'iteration_time' in metrics %}
iteration_times AS (
    SELECT process, rank, MEDIAN(CAST(duration_ns AS DOUBLE)) AS iteration_time
    FROM iterations
    WHERE phase = 'steady'
    GROUP BY process, rank
),
{%- endif %}
-- A GPU that is not known has the number -1 until the end.
listed AS (
    SELECT process, rank, gpu FROM segment_times
    {%- if kernels_too %}
    UNION ALL
    SELECT process, rank, gpu FROM kernel_times
    {%- endif %}
),
members AS (
    SELECT process, rank, gpu
    FROM listed
    GROUP BY process, rank, gpu
),
{%- if work %}
cases AS (
    SELECT {{ work | join(', ') }}
    FROM kernel_times
    GROUP BY {{ work | join(', ') }}
),
{%- endif %}
measured AS (
    {%- for one in metrics %}
    {%- if one in of_kernels %}
    SELECT
        '{{ one }}' AS metric, {{ loop.index }} AS place, m.process, m.rank, m.gpu{{ ', c.' ~ work | join(', c.') if work }},
        {{ 't.mean_kernel' if one == 'mean_kernel' else 'COALESCE(t.' ~ one ~ ', CAST(0 AS DOUBLE))' }} AS amount
    FROM members AS m
    {{- ' CROSS JOIN cases AS c' if work }}
    LEFT JOIN kernel_times AS t ON t.process = m.process AND t.gpu = m.gpu
        {%- for column in work %}
        AND t.{{ column }} = c.{{ column }}
        {%- endfor %}
    {%- elif one == 'copied_bytes' %}
    SELECT '{{ one }}' AS metric, {{ loop.index }} AS place, m.process, m.rank, m.gpu,
        CASE WHEN t.copies IS NULL THEN CAST(0 AS DOUBLE) ELSE t.copied_bytes END AS amount
    FROM members AS m
    LEFT JOIN copied AS t ON t.process = m.process AND t.gpu = m.gpu
    {%- elif one == 'iteration_time' %}
    SELECT '{{ one }}' AS metric, {{ loop.index }} AS place, process, rank, -1 AS gpu, iteration_time AS amount
    FROM iteration_times
    {%- else %}
    SELECT '{{ one }}' AS metric, {{ loop.index }} AS place, process, rank, gpu, {{ one }} AS amount
    FROM segment_times
    {%- endif %}
    {{- '\n    UNION ALL' if not loop.last }}
    {%- endfor %}
),
compared AS (
    SELECT
        {%- for column in by %}
        {{ 'p.' if column in places else 'm.' }}{{ column }},
        {%- endfor %}
        m.metric, m.place, m.process, m.rank, m.gpu, m.amount
    FROM measured AS m
    JOIN processes AS p ON p.process = m.process
    LEFT JOIN programs AS g ON g.process = m.process
    WHERE p.role = 'trace' AND (g.compared OR g.compared IS NULL) AND m.amount IS NOT NULL
),
ordered AS (
    SELECT
        {{ keys }}metric, place, rank, gpu, amount,
        ROW_NUMBER() OVER (
            PARTITION BY {{ keys }}metric
            ORDER BY {{ nulls_last('-amount, rank, process, gpu') }}
        ) AS from_top,
        ROW_NUMBER() OVER (
            PARTITION BY {{ keys }}metric
            ORDER BY {{ nulls_last('amount, rank, process, gpu') }}
        ) AS from_bottom
    FROM compared
),
summed AS (
    SELECT
        {{ keys }}metric, place,
        CAST(COUNT(*) AS BIGINT) AS gpus,
        MIN(amount) AS least,
        MEDIAN(amount) AS middle,
        AVG(amount) AS average,
        MAX(amount) AS greatest,
        STDDEV(amount) AS deviation,
        MAX(CASE WHEN from_top = 1 THEN rank END) AS worst_rank,
        MAX(CASE WHEN from_top = 1 AND gpu >= 0 THEN gpu END) AS worst_gpu,
        MAX(CASE WHEN from_bottom = 1 THEN rank END) AS least_rank,
        MAX(CASE WHEN from_bottom = 1 AND gpu >= 0 THEN gpu END) AS least_gpu
    FROM ordered
    GROUP BY {{ keys }}metric, place
)
SELECT
    {{ keys }}metric,
    gpus,
    least AS min_{{ unit }},
    middle AS median_{{ unit }},
    average AS mean_{{ unit }},
    greatest AS max_{{ unit }},
    CAST(100 AS DOUBLE) * (greatest - average) / NULLIF(average, CAST(0 AS DOUBLE)) AS excess_pct,
    CAST(100 AS DOUBLE) * deviation * SQRT(CAST(gpus - 1 AS DOUBLE) / CAST(gpus AS DOUBLE)) / NULLIF(average, CAST(0 AS DOUBLE)) AS cov_pct,
    greatest / NULLIF(middle, CAST(0 AS DOUBLE)) AS max_vs_median,
    worst_rank,
    worst_gpu,
    least_rank,
    least_gpu
FROM summed
ORDER BY
    {%- for column in places %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    place NULLS LAST,
    {{ '-greatest NULLS LAST, ' ~ work | join(' NULLS FIRST, ') ~ ' NULLS FIRST' if work else 'metric NULLS LAST' }}
