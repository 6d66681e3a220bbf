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
        {{ keys_of('t') }}{{ domain }} AS domain,
        t.duration_ns
    FROM {{ table }} AS t{{ join_processes('t') }}
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
    {{- '\n    UNION ALL' if not loop.first }}
    SELECT
        {{ keys }}'{{ source }}' AS source,
        CAST(domain AS VARCHAR) AS domain,
        calls, total_ns, min_ns, max_ns, std_ns
    FROM {{ source }}_summed
    {%- endfor %}
),
shared AS (
    SELECT
        {{ keys }}source, domain, calls, total_ns, min_ns, max_ns, std_ns,
        CAST(SUM(total_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns
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
    {{ percent('total_ns', 'group_ns') }} AS pct
FROM shared
{{ order_by('total_ns DESC, source, domain') }}
