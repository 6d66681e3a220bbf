-- title: Top by summed duration
-- about: API calls, ranges, kernels and copies together, largest sum of durations first. The sums count what overlaps or nests again: they are not wall time.
-- kind: summary
-- plot: bars label=name value=total_ns role=domain
-- needs: kernels regions memory_copies kernel_symbols processes
-- by:
-- dimensions: rank, process, node, hostname, tid
-- param: top int = 20 -- first N of each group, 0 = all
-- column: source name -- regions, kernels or copies
-- column: domain name -- domain of a region, category of a kernel, or copy
-- column: name name -- function, kernel in the name form that was asked for, or direction of a copy
-- column: calls count -- events
-- column: total_ns ns -- sum of the durations of events that may overlap or nest, not wall time
-- column: mean_ns ns -- mean duration
-- column: min_ns ns -- shortest
-- column: max_ns ns -- longest
-- column: pct pct -- share of the summed durations of the group, before the list is cut
{%- set sources = ['regions', 'kernels', 'copies'] %}
WITH regions_rows AS (
    SELECT
        {{ keys_of('r') }}r.domain, r.name, r.duration_ns
    FROM regions AS r{{ join_processes('r') }}
    WHERE r.valid
),
kernels_rows AS (
    SELECT
        {{ keys_of('k') }}k.category AS domain,
        {{ kernel_name('k', 'name') }},
        k.duration_ns
    FROM kernels AS k{{ join_symbols('k') }}{{ join_processes('k') }}
    WHERE k.valid
),
copies_rows AS (
    SELECT
        {{ keys_of('c') }}'copy' AS domain,
        c.direction AS name,
        c.duration_ns
    FROM memory_copies AS c{{ join_processes('c') }}
    WHERE c.valid
),
{%- for source in sources %}
{{ source }}_summed AS (
    SELECT
        {{ keys }}domain, name,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        MIN(duration_ns) AS min_ns,
        MAX(duration_ns) AS max_ns
    FROM {{ source }}_rows
    GROUP BY {{ keys }}domain, name
),
{%- endfor %}
joined AS (
    {%- for source in sources %}
    {{- '\n    UNION ALL' if not loop.first }}
    SELECT
        {{ keys }}'{{ source }}' AS source,
        {{ texts('domain, name') }},
        calls, total_ns, min_ns, max_ns
    FROM {{ source }}_summed
    {%- endfor %}
),
shared AS (
    SELECT
        {{ keys }}source, domain, name, calls, total_ns, min_ns, max_ns,
        CAST(SUM(total_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns
        {{- place_by('-total_ns, source, domain, name') }}
    FROM joined
)
SELECT
    {{ keys }}source,
    domain,
    name,
    calls,
    total_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    min_ns,
    max_ns,
    {{ percent('total_ns', 'group_ns') }} AS pct
FROM shared
{{ top_by('total_ns DESC, source, domain, name') }}
