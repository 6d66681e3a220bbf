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
        k.duration_ns,
        CASE WHEN CAST(k.duration_ns AS DOUBLE) < CAST('{{ threshold_us }}' AS DOUBLE) * CAST(1000 AS DOUBLE) THEN 1 ELSE 0 END AS short
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
        CAST(SUM(short) AS BIGINT) AS calls,
        CAST(SUM(CASE WHEN short > 0 THEN duration_ns ELSE 0 END) AS BIGINT) AS total_ns,
        CAST(SUM(duration_ns) AS BIGINT) AS kernel_ns
    FROM dispatches
    GROUP BY {{ keys }}kernel_name
),
labelled AS (
    SELECT
        {{ keys }}CAST(kernel_name AS VARCHAR) AS kernel_name,
        calls,
        total_ns,
        CAST(SUM(kernel_ns) OVER ({{ 'PARTITION BY ' if by else '' }}{{ by | join(', ') }}) AS BIGINT) AS group_ns
    FROM per_name
),
shorts AS (
    SELECT
        {{ keys }}kernel_name,
        calls,
        total_ns,
        group_ns
        {%- if top > 0 and by %},
        ROW_NUMBER() OVER (
            PARTITION BY {{ by | join(', ') }}
            ORDER BY -total_ns NULLS LAST, kernel_name NULLS LAST
        ) AS place
        {%- endif %}
    FROM labelled
    WHERE calls > 0
)
SELECT
    {{ keys }}kernel_name,
    calls,
    total_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    CAST(100 AS DOUBLE) * CAST(total_ns AS DOUBLE) / NULLIF(CAST(group_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS pct_of_kernel_time
FROM shorts
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
