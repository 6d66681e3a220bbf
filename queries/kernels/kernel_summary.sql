-- title: Kernel summary
-- about: Time and calls of every kernel, longest total first, with its share of all kernel time.
-- kind: summary
-- plot: pareto label=kernel_name value=total_ns share=pct role=category
-- needs: kernels kernel_symbols processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, category, queue_id, stream_id, tid, agent_id, region_name, graph_exec_id
-- param: top int = 0 -- first N kernels of each group, 0 = all
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: category name -- category with the most time under this name
-- column: calls count -- dispatches
-- column: total_ns ns -- sum of the durations
-- column: mean_ns ns -- mean duration
-- column: median_ns ns -- median duration
-- column: std_ns ns -- sample standard deviation, null for a single call
-- column: min_ns ns -- shortest dispatch
-- column: max_ns ns -- longest dispatch
-- column: pct pct -- share of the kernel time of the group
-- column: cumulative_pct pct -- share of this kernel and all above it
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
        {%- if 'category' not in by %}
        k.category,
        {%- endif %}
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
per_name AS (
    SELECT
        {{ keys }}kernel_name,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        {%- if 'median_ns' in columns %}
        MEDIAN(CAST(duration_ns AS DOUBLE)) AS median_ns,
        {%- endif %}
        STDDEV(CAST(duration_ns AS DOUBLE)) AS std_ns,
        MIN(duration_ns) AS min_ns,
        MAX(duration_ns) AS max_ns
    FROM dispatches
    GROUP BY {{ keys }}kernel_name
),
{%- if 'category' not in by %}
per_category AS (
    SELECT {{ keys }}kernel_name, category, CAST(SUM(duration_ns) AS BIGINT) AS category_ns
    FROM dispatches
    GROUP BY {{ keys }}kernel_name, category
),
ranked AS (
    SELECT
        {{ keys }}kernel_name,
        category,
        ROW_NUMBER() OVER (
            PARTITION BY {{ keys }}kernel_name
            ORDER BY -category_ns NULLS LAST, CAST(category AS VARCHAR) NULLS LAST
        ) AS place
    FROM per_category
),
main_category AS (
    SELECT {{ keys }}kernel_name, category
    FROM ranked
    WHERE place = 1
),
{%- endif %}
labelled AS (
    SELECT
        {%- for column in by %}
        n.{{ column }},
        {%- endfor %}
        CAST(n.kernel_name AS VARCHAR) AS kernel_name,
        {%- if 'category' not in by %}
        CAST(c.category AS VARCHAR) AS category,
        {%- endif %}
        n.calls,
        n.total_ns,
        {%- if 'median_ns' in columns %}
        n.median_ns,
        {%- endif %}
        n.std_ns,
        n.min_ns,
        n.max_ns
    FROM per_name AS n
    {%- if 'category' not in by %}
    JOIN main_category AS c
        ON c.kernel_name = n.kernel_name
        {%- for column in by %}
        AND COALESCE(CAST(c.{{ column }} AS VARCHAR) || '.', '') = COALESCE(CAST(n.{{ column }} AS VARCHAR) || '.', '')
        {%- endfor %}
    {%- endif %}
),
summed AS (
    SELECT
        {{ keys }}kernel_name,
        {%- if 'category' not in by %}
        category,
        {%- endif %}
        calls,
        total_ns,
        {%- if 'median_ns' in columns %}
        median_ns,
        {%- endif %}
        std_ns,
        min_ns,
        max_ns,
        CAST(SUM(total_ns) OVER ({{ 'PARTITION BY ' if by else '' }}{{ by | join(', ') }}) AS BIGINT) AS group_ns,
        CAST(SUM(total_ns) OVER (
            {{ 'PARTITION BY ' if by else '' }}{{ by | join(', ') }}
            ORDER BY -total_ns NULLS LAST, kernel_name NULLS LAST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS BIGINT) AS running_ns
        {%- if top > 0 and by %},
        ROW_NUMBER() OVER (
            PARTITION BY {{ by | join(', ') }}
            ORDER BY -total_ns NULLS LAST, kernel_name NULLS LAST
        ) AS place
        {%- endif %}
    FROM labelled
)
SELECT
    {{ keys }}kernel_name,
    {%- if 'category' not in by %}
    category,
    {%- endif %}
    calls,
    total_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    {%- if 'median_ns' in columns %}
    median_ns,
    {%- endif %}
    std_ns,
    min_ns,
    max_ns,
    CAST(100 AS DOUBLE) * CAST(total_ns AS DOUBLE) / NULLIF(CAST(group_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS pct,
    CAST(100 AS DOUBLE) * CAST(running_ns AS DOUBLE) / NULLIF(CAST(group_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS cumulative_pct
FROM summed
{%- if top > 0 and by %}
WHERE place <= {{ top }}
{%- endif %}
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    total_ns DESC NULLS LAST,
    kernel_name NULLS LAST
{%- if top > 0 and not by %}
LIMIT {{ top }}
{%- endif %}
