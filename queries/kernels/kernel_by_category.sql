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
{%- set keys = by | join(', ') ~ (', ' if by else '') %}
WITH dispatches AS (
    SELECT
        {%- for column in by %}
        {{ 'p.' if column in ['node', 'hostname'] else 'k.' }}{{ column }},
        {%- endfor %}
        {%- if name == 'short' %}
        k.short_name AS kernel_name,
        {%- elif name == 'base' %}
        COALESCE(CAST(s.base_name AS VARCHAR), CAST(k.short_name AS VARCHAR)) AS kernel_name,
        {%- elif name == 'mangled' %}
        COALESCE(CAST(s.mangled_name AS VARCHAR), CAST(k.kernel_name AS VARCHAR)) AS kernel_name,
        {%- else %}
        k.kernel_name,
        {%- endif %}
        k.category,
        k.duration_ns
    FROM kernels AS k
    {%- if name in ['base', 'mangled'] %}
    LEFT JOIN kernel_symbols AS s ON s.process = k.process AND s.kernel_id = k.kernel_id
    {%- endif %}
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = k.process
    {%- endif %}
    WHERE k.valid
),
per_kernel AS (
    SELECT
        {{ keys }}category,
        kernel_name,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns
    FROM dispatches
    GROUP BY {{ keys }}category, kernel_name
),
per_category AS (
    SELECT
        {{ keys }}category,
        CAST(COUNT(kernel_name) AS BIGINT) AS kernels,
        CAST(SUM(calls) AS BIGINT) AS calls,
        CAST(SUM(total_ns) AS BIGINT) AS total_ns
    FROM per_kernel
    GROUP BY {{ keys }}category
),
labelled AS (
    SELECT {{ keys }}CAST(category AS VARCHAR) AS category, kernels, calls, total_ns
    FROM per_category
),
summed AS (
    SELECT
        {{ keys }}category,
        kernels,
        calls,
        total_ns,
        CAST(SUM(total_ns) OVER ({{ 'PARTITION BY ' if by else '' }}{{ by | join(', ') }}) AS BIGINT) AS group_ns,
        CAST(SUM(total_ns) OVER (
            {{ 'PARTITION BY ' if by else '' }}{{ by | join(', ') }}
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
    CAST(100 AS DOUBLE) * CAST(total_ns AS DOUBLE) / NULLIF(CAST(group_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS pct,
    CAST(100 AS DOUBLE) * CAST(running_ns AS DOUBLE) / NULLIF(CAST(group_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS cumulative_pct
FROM summed
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    total_ns DESC NULLS LAST,
    category NULLS LAST
