-- title: API summary
-- about: Time and calls of every API function and range, with the time spent in it alone.
-- kind: summary
-- plot: ranked label=name value=self_ns role=neutral
-- needs: region_times processes
-- by:
-- dimensions: rank, process, node, hostname, tid, category
-- param: top int = 0 -- first N functions of each group, 0 = all
-- column: domain name -- hip, hsa, marker, rccl and so on
-- column: name name -- function or range operation
-- column: calls count -- calls
-- column: total_ns ns -- sum of the durations
-- column: self_ns ns -- the same without the calls inside them on the same thread
-- column: mean_ns ns -- mean duration
-- column: median_ns ns -- median duration
-- column: p95_ns ns -- 95th percentile of the durations, interpolated
-- column: max_ns ns -- longest call
{%- set keys = by | join(', ') ~ (', ' if by else '') %}
WITH calls AS (
    SELECT
        {%- for column in by %}
        {{ 'p.' if column in ['node', 'hostname'] else 'r.' }}{{ column }},
        {%- endfor %}
        r.domain,
        r.name,
        r.region_ns AS duration_ns,
        r.self_ns
    FROM region_times AS r
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = r.process
    {%- endif %}
),
summed AS (
    SELECT
        {{ keys }}domain,
        name,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        CAST(SUM(self_ns) AS BIGINT) AS self_ns,
        MEDIAN(CAST(duration_ns AS DOUBLE)) AS median_ns,
        QUANTILE_CONT(CAST(duration_ns AS DOUBLE), 0.95) AS p95_ns,
        MAX(duration_ns) AS max_ns
    FROM calls
    GROUP BY {{ keys }}domain, name
),
labelled AS (
    SELECT
        {{ keys }}CAST(domain AS VARCHAR) AS domain,
        CAST(name AS VARCHAR) AS name,
        calls,
        total_ns,
        self_ns,
        median_ns,
        p95_ns,
        max_ns
        {%- if top > 0 and by %},
        ROW_NUMBER() OVER (
            PARTITION BY {{ by | join(', ') }}
            ORDER BY -total_ns NULLS LAST, CAST(domain AS VARCHAR) NULLS LAST, CAST(name AS VARCHAR) NULLS LAST
        ) AS place
        {%- endif %}
    FROM summed
)
SELECT
    {{ keys }}domain,
    name,
    calls,
    total_ns,
    self_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    median_ns,
    p95_ns,
    max_ns
FROM labelled
{%- if top > 0 and by %}
WHERE place <= {{ top }}
{%- endif %}
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    total_ns DESC NULLS LAST,
    domain NULLS LAST,
    name NULLS LAST
{%- if top > 0 and not by %}
LIMIT {{ top }}
{%- endif %}
