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
{%- set keys = by | join(', ') ~ (', ' if by else '') %}
{%- set sources = ['regions', 'kernels', 'copies'] %}
WITH regions_rows AS (
    SELECT
        {%- for column in by %}
        {{ 'p.' if column in ['node', 'hostname'] else 'r.' }}{{ column }},
        {%- endfor %}
        r.domain,
        r.name,
        r.duration_ns
    FROM regions AS r
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = r.process
    {%- endif %}
    WHERE r.valid
),
kernels_rows AS (
    SELECT
        {%- for column in by %}
        {{ 'p.' if column in ['node', 'hostname'] else 'k.' }}{{ column }},
        {%- endfor %}
        k.category AS domain,
        {%- if name == 'short' %}
        k.short_name AS name,
        {%- elif name == 'base' %}
        COALESCE(CAST(s.base_name AS VARCHAR), CAST(k.short_name AS VARCHAR)) AS name,
        {%- elif name == 'mangled' %}
        COALESCE(CAST(s.mangled_name AS VARCHAR), CAST(k.kernel_name AS VARCHAR)) AS name,
        {%- else %}
        k.kernel_name AS name,
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
copies_rows AS (
    SELECT
        {%- for column in by %}
        {{ 'p.' if column in ['node', 'hostname'] else 'c.' }}{{ column }},
        {%- endfor %}
        'copy' AS domain,
        c.direction AS name,
        c.duration_ns
    FROM memory_copies AS c
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = c.process
    {%- endif %}
    WHERE c.valid
),
{%- for source in sources %}
{{ source }}_summed AS (
    SELECT
        {{ keys }}domain,
        name,
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
    {%- if not loop.first %}
    UNION ALL
    {%- endif %}
    SELECT
        {{ keys }}'{{ source }}' AS source,
        CAST(domain AS VARCHAR) AS domain,
        CAST(name AS VARCHAR) AS name,
        calls,
        total_ns,
        min_ns,
        max_ns
    FROM {{ source }}_summed
    {%- endfor %}
),
shared AS (
    SELECT
        {{ keys }}source,
        domain,
        name,
        calls,
        total_ns,
        min_ns,
        max_ns,
        CAST(SUM(total_ns) OVER ({{ 'PARTITION BY ' if by else '' }}{{ by | join(', ') }}) AS BIGINT) AS group_ns
        {%- if top > 0 and by %},
        ROW_NUMBER() OVER (
            PARTITION BY {{ by | join(', ') }}
            ORDER BY -total_ns NULLS LAST, source NULLS LAST, domain NULLS LAST, name NULLS LAST
        ) AS place
        {%- endif %}
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
    CAST(100 AS DOUBLE) * CAST(total_ns AS DOUBLE) / NULLIF(CAST(group_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS pct
FROM shared
{%- if top > 0 and by %}
WHERE place <= {{ top }}
{%- endif %}
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    total_ns DESC NULLS LAST,
    source NULLS LAST,
    domain NULLS LAST,
    name NULLS LAST
{%- if top > 0 and not by %}
LIMIT {{ top }}
{%- endif %}
