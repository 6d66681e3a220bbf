-- title: Range summary
-- about: Time on the host and on the GPU of the ROCTx ranges of each path, with and without the ranges that lie in them, most work of their own first. Work belongs to the range in which it was launched.
-- kind: summary
-- plot: ranked label=path value=self_ns role=neutral
-- needs: ranges range_self_times processes
-- local: timed
-- by:
-- dimensions: rank, process, node, hostname, tid, depth, message
-- param: top int = 0 -- first N paths of each group, 0 = all
-- column: path text -- messages from the outermost range to this one
-- column: kind text -- thread or process
-- column: calls count -- ranges
-- column: total_ns ns -- sum of the times on the host
-- column: self_ns ns -- the same without the ranges that lie in them
-- column: mean_ns ns -- mean time on the host
-- column: median_ns ns -- median time on the host
-- column: min_ns ns -- shortest range
-- column: max_ns ns -- longest range
-- column: kernels count -- kernels launched in them, in the ranges that lie in them too
-- column: gpu_ns ns -- sum of the durations of these kernels and of the copies
-- column: self_kernels count -- kernels launched in them and in no range that lies in them
-- column: self_gpu_ns ns -- sum of the durations of these kernels and copies; over all ranges of threads each counts once
-- column: self_gpu_pct pct -- share of what was launched in any range of the group
{%- set keys = by | join(', ') ~ (', ' if by else '') %}
WITH timed AS (
    SELECT
        {%- for column in by %}
        {{ 'p.' if column in ['node', 'hostname'] else 'r.' }}{{ column }},
        {%- endfor %}
        r.path,
        r.kind,
        r.duration_ns,
        r.kernels,
        r.kernel_ns + r.copy_ns AS gpu_ns,
        s.self_ns,
        s.self_kernels,
        s.self_kernel_ns + s.self_copy_ns AS self_gpu_ns
    FROM ranges AS r
    JOIN range_self_times AS s ON s.process = r.process AND s.range_id = r.range_id
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = r.process
    {%- endif %}
),
per_path AS (
    SELECT
        {{ keys }}path,
        kind,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        CAST(SUM(self_ns) AS BIGINT) AS self_ns,
        MEDIAN(CAST(duration_ns AS DOUBLE)) AS median_ns,
        MIN(duration_ns) AS min_ns,
        MAX(duration_ns) AS max_ns,
        CAST(SUM(kernels) AS BIGINT) AS kernels,
        CAST(SUM(gpu_ns) AS BIGINT) AS gpu_ns,
        CAST(SUM(self_kernels) AS BIGINT) AS self_kernels,
        CAST(SUM(self_gpu_ns) AS BIGINT) AS self_gpu_ns
    FROM timed
    GROUP BY {{ keys }}path, kind
),
labelled AS (
    SELECT
        {%- for column in by %}
        {{ 'CAST(message AS VARCHAR) AS message' if column == 'message' else column }},
        {%- endfor %}
        path,
        CAST(kind AS VARCHAR) AS kind,
        calls,
        total_ns,
        self_ns,
        median_ns,
        min_ns,
        max_ns,
        kernels,
        gpu_ns,
        self_kernels,
        self_gpu_ns,
        -total_ns AS below_total
    FROM per_path
),
placed AS (
    SELECT
        {{ keys }}path,
        kind,
        calls,
        total_ns,
        self_ns,
        median_ns,
        min_ns,
        max_ns,
        kernels,
        gpu_ns,
        self_kernels,
        self_gpu_ns,
        CAST(SUM(self_gpu_ns) OVER ({{ 'PARTITION BY ' if by else '' }}{{ by | join(', ') }}) AS BIGINT) AS group_ns
        {%- if top > 0 and by %},
        ROW_NUMBER() OVER (
            PARTITION BY {{ by | join(', ') }}
            ORDER BY -self_gpu_ns NULLS LAST, below_total NULLS LAST, path NULLS LAST, kind NULLS LAST
        ) AS place
        {%- endif %}
    FROM labelled
)
SELECT
    {{ keys }}path,
    kind,
    calls,
    total_ns,
    self_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    median_ns,
    min_ns,
    max_ns,
    kernels,
    gpu_ns,
    self_kernels,
    self_gpu_ns,
    CAST(100 AS DOUBLE) * CAST(self_gpu_ns AS DOUBLE) / NULLIF(CAST(group_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS self_gpu_pct
FROM placed
{%- if top > 0 and by %}
WHERE place <= {{ top }}
{%- endif %}
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    self_gpu_ns DESC NULLS LAST,
    total_ns DESC NULLS LAST,
    path NULLS LAST,
    kind NULLS LAST
{%- if top > 0 and not by %}
LIMIT {{ top }}
{%- endif %}
