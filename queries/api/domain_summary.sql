-- title: Domain summary
-- about: Calls and time of every domain: API calls and ranges, kernels, copies and allocations. The durations of nested and simultaneous calls are added up.
-- kind: summary
-- needs: regions kernels memory_copies memory_allocations processes
-- by:
-- dimensions: rank, process, node, hostname, tid
-- column: source name -- regions, kernels, copies or allocations
-- column: domain name -- hip, hsa, marker and so on for regions, else kernel, copy, allocation or scratch
-- column: calls count -- rows
-- column: total_ns ns -- sum of the durations
-- column: mean_ns ns -- mean duration
-- column: min_ns ns -- shortest
-- column: max_ns ns -- longest
-- column: std_ns ns -- sample standard deviation of the durations, null for a single call
-- column: pct pct -- share of total_ns of the group
{%- set keys = by | join(', ') ~ (', ' if by else '') %}
{%- set parts = [
    ('regions', 'regions', 't.domain'),
    ('kernels', 'kernels', "'kernel'"),
    ('copies', 'memory_copies', "'copy'"),
    ('allocations', 'memory_allocations', "CASE WHEN t.level = 'SCRATCH' THEN 'scratch' ELSE 'allocation' END"),
] %}
WITH
{%- for source, table, domain in parts %}
{{ source }}_rows AS (
    SELECT
        {%- for column in by %}
        {{ 'p.' if column in ['node', 'hostname'] else 't.' }}{{ column }},
        {%- endfor %}
        {{ domain }} AS domain,
        t.duration_ns
    FROM {{ table }} AS t
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = t.process
    {%- endif %}
    WHERE t.valid
),
{{ source }}_summed AS (
    SELECT
        {{ keys }}domain,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        MIN(duration_ns) AS min_ns,
        MAX(duration_ns) AS max_ns,
        STDDEV(CAST(duration_ns AS DOUBLE)) AS std_ns
    FROM {{ source }}_rows
    GROUP BY {{ keys }}domain
),
{%- endfor %}
joined AS (
    {%- for source, table, domain in parts %}
    {%- if not loop.first %}
    UNION ALL
    {%- endif %}
    SELECT
        {{ keys }}'{{ source }}' AS source,
        CAST(domain AS VARCHAR) AS domain,
        calls,
        total_ns,
        min_ns,
        max_ns,
        std_ns
    FROM {{ source }}_summed
    {%- endfor %}
),
shared AS (
    SELECT
        {{ keys }}source,
        domain,
        calls,
        total_ns,
        min_ns,
        max_ns,
        std_ns,
        CAST(SUM(total_ns) OVER ({{ 'PARTITION BY ' if by else '' }}{{ by | join(', ') }}) AS BIGINT) AS group_ns
    FROM joined
)
SELECT
    {{ keys }}source,
    domain,
    calls,
    total_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    min_ns,
    max_ns,
    std_ns,
    CAST(100 AS DOUBLE) * CAST(total_ns AS DOUBLE) / NULLIF(CAST(group_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS pct
FROM shared
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    total_ns DESC NULLS LAST,
    source NULLS LAST,
    domain NULLS LAST
