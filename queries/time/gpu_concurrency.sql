-- title: GPU concurrency
-- about: How long each GPU ran how many kernels at once within the span of its process. A coarser grouping adds the GPUs up.
-- kind: summary
-- plot: stacked_by label=by part=kernels_running value=time_ns
-- needs: gpu_segments processes
-- by: rank, gpu
-- dimensions: rank, gpu, process, device, node, hostname
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: kernels_running count -- kernels at once, compute and communication; 0 while there are only copies or nothing
-- column: time_ns ns -- time with that many
-- column: copies_ns ns -- part of it with at least one copy running
-- column: pct pct -- share of the span of the group
{%- set keys = by | join(', ') ~ (', ' if by else '') %}
WITH segments AS (
    SELECT
        {%- for column in by %}
        {{ 'p.' if column in ['node', 'hostname'] else 'g.' }}{{ column }},
        {%- endfor %}
        g.compute + g.comm AS kernels_running,
        g.copies,
        g.duration_ns
    FROM gpu_segments AS g
    JOIN processes AS p ON p.process = g.process
    WHERE p.role = 'trace'
),
summed AS (
    SELECT
        {{ keys }}kernels_running,
        CAST(SUM(duration_ns) AS BIGINT) AS time_ns,
        CAST(SUM(CASE WHEN copies > 0 THEN duration_ns ELSE 0 END) AS BIGINT) AS copies_ns
    FROM segments
    GROUP BY {{ keys }}kernels_running
),
shared AS (
    SELECT
        {{ keys }}kernels_running,
        time_ns,
        copies_ns,
        CAST(SUM(time_ns) OVER ({{ 'PARTITION BY ' if by else '' }}{{ by | join(', ') }}) AS BIGINT) AS span_ns
    FROM summed
)
SELECT
    {{ keys }}kernels_running,
    time_ns,
    copies_ns,
    CAST(100 AS DOUBLE) * CAST(time_ns AS DOUBLE) / NULLIF(CAST(span_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS pct
FROM shared
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    kernels_running NULLS LAST
