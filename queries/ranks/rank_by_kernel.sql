-- title: Kernels by rank
-- about: Every kernel on every GPU of every rank, against the median of the GPUs that ran it: a matrix, one line per cell. Kernels with most time first.
-- kind: summary
-- needs: kernels kernel_symbols processes
-- by:
-- dimensions: category, node, hostname
-- param: top int = 0 -- first N kernels, 0 = all
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: calls count -- dispatches
-- column: total_ns ns -- sum of the durations
-- column: mean_ns ns -- mean duration
-- column: pct pct -- share of the kernel time of that GPU
-- column: gpus count -- GPUs that ran the kernel
-- column: calls_vs_median number -- dispatches over the median of those GPUs
-- column: total_vs_median number -- total_ns over their median
-- column: mean_vs_median number -- mean_ns over their median
WITH dispatches AS (
    SELECT
        {{ keys_of('k') }}k.process, k.rank, k.gpu,
        {{ kernel_name('k') }}, k.duration_ns
    FROM kernels AS k{{ join_symbols('k') }}{{ join_processes('k') }}
    WHERE k.valid
),
per_name AS (
    SELECT
        {{ keys }}process, rank, gpu, kernel_name,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns
    FROM dispatches
    GROUP BY {{ keys }}process, rank, gpu, kernel_name
),
cells AS (
    SELECT
        {{ keys_as_text(['category', 'hostname']) }}process, rank, gpu,
        CAST(kernel_name AS VARCHAR) AS kernel_name,
        calls, total_ns,
        CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
        CAST(SUM(total_ns) OVER (PARTITION BY process, gpu) AS DOUBLE) AS gpu_ns
    FROM per_name
),
centres AS (
    SELECT
        {{ keys }}kernel_name,
        CAST(COUNT(*) AS BIGINT) AS gpus,
        CAST(SUM(total_ns) AS BIGINT) AS kernel_ns,
        MEDIAN(CAST(calls AS DOUBLE)) AS median_calls,
        MEDIAN(CAST(total_ns AS DOUBLE)) AS median_total,
        MEDIAN(mean_ns) AS median_mean
    FROM cells
    GROUP BY {{ keys }}kernel_name
),
ranked AS (
    SELECT
        {{ keys }}kernel_name, gpus, median_calls, median_total, median_mean,
        -kernel_ns AS less,
        ROW_NUMBER() OVER (
            {{ per_group }} ORDER BY -kernel_ns NULLS LAST, kernel_name NULLS LAST
        ) AS place
    FROM centres
)
SELECT
    {{ keys_in('c') }}c.kernel_name,
    c.rank,
    c.gpu,
    c.calls,
    c.total_ns,
    c.mean_ns,
    CAST(100 AS DOUBLE) * CAST(c.total_ns AS DOUBLE) / NULLIF(c.gpu_ns, CAST(0 AS DOUBLE)) AS pct,
    r.gpus,
    CAST(c.calls AS DOUBLE) / NULLIF(r.median_calls, CAST(0 AS DOUBLE)) AS calls_vs_median,
    CAST(c.total_ns AS DOUBLE) / NULLIF(r.median_total, CAST(0 AS DOUBLE)) AS total_vs_median,
    c.mean_ns / NULLIF(r.median_mean, CAST(0 AS DOUBLE)) AS mean_vs_median
FROM cells AS c
JOIN ranked AS r ON r.kernel_name = c.kernel_name{{ and_same_keys('r', 'c') }}
{%- if top > 0 %}
WHERE r.place <= {{ top }}
{%- endif %}
ORDER BY
    {%- for column in by %}
    c.{{ column }} NULLS FIRST,
    {%- endfor %}
    r.less NULLS LAST,
    c.kernel_name NULLS LAST,
    c.rank NULLS FIRST,
    c.process NULLS FIRST,
    c.gpu NULLS FIRST
