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
{%- set keys = by | join(', ') ~ (', ' if by else '') %}
WITH dispatches AS (
    SELECT
        {%- for column in by %}
        {{ 'p.' if column in ['node', 'hostname'] else 'd.' }}{{ column }},
        {%- endfor %}
        {%- if name == 'short' %}
        d.short_name AS kernel_name,
        {%- elif name == 'base' %}
        COALESCE(CAST(s.base_name AS VARCHAR), CAST(d.short_name AS VARCHAR)) AS kernel_name,
        {%- elif name == 'mangled' %}
        COALESCE(CAST(s.mangled_name AS VARCHAR), CAST(d.kernel_name AS VARCHAR)) AS kernel_name,
        {%- else %}
        d.kernel_name,
        {%- endif %}
        d.kernel_ns,
        d.path_ns,
        d.slack_ns
    FROM dispatch_slack AS d
    {%- if name in ['base', 'mangled'] %}
    LEFT JOIN kernel_symbols AS s ON s.process = d.process AND s.kernel_id = d.kernel_id
    {%- endif %}
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = d.process
    {%- endif %}
),
summed AS (
    SELECT
        {{ keys }}kernel_name,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(CASE WHEN path_ns > 0 THEN 1 ELSE 0 END) AS BIGINT) AS critical_calls,
        CAST(SUM(kernel_ns) AS BIGINT) AS total_ns,
        CAST(SUM(path_ns) AS BIGINT) AS path_ns,
        CAST(SUM(CASE WHEN slack_ns = 0 THEN 1 ELSE 0 END) AS BIGINT) AS without_slack,
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
        calls,
        critical_calls,
        total_ns,
        path_ns,
        without_slack,
        min_slack_ns,
        median_slack_ns,
        max_slack_ns,
        ROW_NUMBER() OVER (
            {%- if by %}
            PARTITION BY {{ by | join(', ') }}
            {%- endif %}
            ORDER BY -path_ns NULLS LAST, minus_total_ns NULLS LAST, CAST(kernel_name AS VARCHAR) NULLS LAST
        ) AS place
    FROM summed
)
SELECT
    {{ keys }}kernel_name,
    calls,
    critical_calls,
    total_ns,
    path_ns,
    CAST(100 AS DOUBLE) * CAST(path_ns AS DOUBLE) / NULLIF(CAST(total_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS critical_pct,
    without_slack,
    min_slack_ns,
    median_slack_ns,
    max_slack_ns
FROM labelled
{%- if top > 0 %}
WHERE place <= {{ top }}
{%- endif %}
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    path_ns DESC NULLS LAST,
    total_ns DESC NULLS LAST,
    kernel_name NULLS LAST
