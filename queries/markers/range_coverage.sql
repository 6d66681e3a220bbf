-- title: GPU work under ranges
-- about: How much of the kernels and copies was launched in a ROCTx range, how much outside all ranges, and of how much the launching call was not recorded.
-- kind: summary
-- plot: bars label=launch value=gpu_ns
-- needs: range_work processes
-- by: rank
-- dimensions: rank, process, gpu, node, hostname, kind
-- column: rank id -- rank
-- column: launch text -- range, outside or unknown
-- column: kernels count -- kernels
-- column: kernel_ns ns -- sum of their durations
-- column: copies count -- copies
-- column: copy_ns ns -- sum of their durations
-- column: gpu_ns ns -- sum of both
-- column: pct pct -- share of all work of the group
{%- set keys = by | join(', ') ~ (', ' if by else '') %}
WITH work AS (
    SELECT
        {%- for column in by %}
        {{ 'p.' if column in ['node', 'hostname'] else 'w.' }}{{ column }},
        {%- endfor %}
        {%- if 'kind' not in by %}
        w.kind,
        {%- endif %}
        w.launch,
        w.duration_ns
    FROM range_work AS w
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = w.process
    {%- endif %}
),
summed AS (
    SELECT
        {{ keys }}launch,
        CAST(COUNT(CASE WHEN kind = 'kernel' THEN 1 END) AS BIGINT) AS kernels,
        CAST(SUM(CASE WHEN kind = 'kernel' THEN duration_ns ELSE 0 END) AS BIGINT) AS kernel_ns,
        CAST(COUNT(CASE WHEN kind = 'copy' THEN 1 END) AS BIGINT) AS copies,
        CAST(SUM(CASE WHEN kind = 'copy' THEN duration_ns ELSE 0 END) AS BIGINT) AS copy_ns,
        CAST(SUM(duration_ns) AS BIGINT) AS gpu_ns
    FROM work
    GROUP BY {{ keys }}launch
),
labelled AS (
    SELECT
        {%- for column in by %}
        {{ 'CAST(kind AS VARCHAR) AS kind' if column == 'kind' else column }},
        {%- endfor %}
        CAST(launch AS VARCHAR) AS launch,
        kernels,
        kernel_ns,
        copies,
        copy_ns,
        gpu_ns
    FROM summed
),
shared AS (
    SELECT
        {{ keys }}launch,
        kernels,
        kernel_ns,
        copies,
        copy_ns,
        gpu_ns,
        CAST(SUM(gpu_ns) OVER ({{ 'PARTITION BY ' if by else '' }}{{ by | join(', ') }}) AS BIGINT) AS group_ns
    FROM labelled
)
SELECT
    {{ keys }}launch,
    kernels,
    kernel_ns,
    copies,
    copy_ns,
    gpu_ns,
    CAST(100 AS DOUBLE) * CAST(gpu_ns AS DOUBLE) / NULLIF(CAST(group_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS pct
FROM shared
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    gpu_ns DESC NULLS LAST,
    launch NULLS LAST
