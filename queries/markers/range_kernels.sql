-- title: Kernels of ranges
-- about: The kernels launched in the ROCTx ranges of each path and in no range that lies in them, most time first. Kernels launched outside all ranges have no path.
-- kind: summary
-- needs: range_work ranges kernels kernel_symbols processes
-- by:
-- dimensions: rank, process, gpu, node, hostname, category
-- param: top int = 0 -- first N rows of each group, 0 = all
-- column: path text -- messages from the outermost range to this one
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: calls count -- dispatches
-- column: total_ns ns -- sum of the durations
-- column: mean_ns ns -- mean duration
-- column: pct pct -- share of the kernel time of the group
{%- set keys = by | join(', ') ~ (', ' if by else '') %}
WITH work AS (
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
        r.path,
        k.duration_ns
    FROM range_work AS w
    JOIN kernels AS k ON k.process = w.process AND k.dispatch_id = w.target_id
    LEFT JOIN ranges AS r ON r.process = w.process AND r.range_id = w.range_id
    {%- if name in ['base', 'mangled'] %}
    LEFT JOIN kernel_symbols AS s ON s.process = k.process AND s.kernel_id = k.kernel_id
    {%- endif %}
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = k.process
    {%- endif %}
    WHERE w.kind = 'kernel' AND k.valid
),
summed AS (
    SELECT
        {{ keys }}path,
        kernel_name,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns
    FROM work
    GROUP BY {{ keys }}path, kernel_name
),
labelled AS (
    SELECT
        {%- for column in by %}
        {{ 'CAST(category AS VARCHAR) AS category' if column == 'category' else column }},
        {%- endfor %}
        path,
        CAST(kernel_name AS VARCHAR) AS kernel_name,
        calls,
        total_ns
    FROM summed
),
placed AS (
    SELECT
        {{ keys }}path,
        kernel_name,
        calls,
        total_ns,
        CAST(SUM(total_ns) OVER ({{ 'PARTITION BY ' if by else '' }}{{ by | join(', ') }}) AS BIGINT) AS group_ns
        {%- if top > 0 and by %},
        ROW_NUMBER() OVER (
            PARTITION BY {{ by | join(', ') }}
            ORDER BY -total_ns NULLS LAST, path NULLS LAST, kernel_name NULLS LAST
        ) AS place
        {%- endif %}
    FROM labelled
)
SELECT
    {{ keys }}path,
    kernel_name,
    calls,
    total_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    CAST(100 AS DOUBLE) * CAST(total_ns AS DOUBLE) / NULLIF(CAST(group_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS pct
FROM placed
{%- if top > 0 and by %}
WHERE place <= {{ top }}
{%- endif %}
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    total_ns DESC NULLS LAST,
    path NULLS LAST,
    kernel_name NULLS LAST
{%- if top > 0 and not by %}
LIMIT {{ top }}
{%- endif %}
