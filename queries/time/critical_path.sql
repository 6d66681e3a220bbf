-- title: Critical path
-- about: What the end of the GPU work of each process depended on, in the order of time: from its first start to its last end, each part bound by the one before it. The parts add up to the span of the kernels and copies of the process, those of no GPU included. Where nothing recorded explains the start of a kernel, what ended shortly before is taken for its cause and called inferred.
-- kind: trace
-- needs: critical_path kernels kernel_symbols processes
-- by:
-- dimensions: rank, process, node, hostname, kind, gpu, tid, reached_by, iteration
-- param: top int = 0 -- longest N parts of each group, 0 = all
-- column: name name -- kernel in the name form that was asked for, direction of a copy, or function; of waits what waited
-- column: kind name -- kernel, copy, api, host (outside of calls), launch_latency, queue_wait, sync_wakeup or unknown
-- column: rank id -- rank
-- column: process id -- process
-- column: ordinal count -- place on the path
-- column: start_ns ns -- start, in the clock of the trace
-- column: duration_ns ns -- length
-- column: path_pct pct -- share of the path of the process
-- column: reached_by name -- stream, event, inferred, launch, wait, thread or start
-- column: gpu id -- GPU of the process
-- column: tid id -- thread
-- column: target_id id -- dispatch or copy
-- column: iteration id -- iteration without markers
{%- set details = ['kind', 'rank', 'process', 'ordinal', 'start_ns', 'duration_ns', 'path_pct', 'reached_by', 'gpu', 'tid', 'target_id', 'iteration'] %}
WITH lengths AS (
    SELECT process, CAST(SUM(duration_ns) AS BIGINT) AS path_ns
    FROM critical_path
    GROUP BY process
),
parts AS (
    SELECT
        {%- for column in by if column not in details %}
        p.{{ column }},
        {%- endfor %}
        {%- if name == 'full' %}
        CAST(c.name AS VARCHAR) AS name,
        {%- else %}
        COALESCE(CAST(s.{{ {'short': 'short_name', 'base': 'base_name', 'mangled': 'mangled_name'}[name] }} AS VARCHAR), CAST(c.name AS VARCHAR)) AS name,
        {%- endif %}
        CAST(c.kind AS VARCHAR) AS kind,
        c.rank,
        c.process,
        c.ordinal,
        c.start_ns,
        c.duration_ns,
        CAST(100 AS DOUBLE) * CAST(c.duration_ns AS DOUBLE) / CAST(l.path_ns AS DOUBLE) AS path_pct,
        CAST(c.reached_by AS VARCHAR) AS reached_by,
        c.gpu,
        c.tid,
        c.target_id,
        c.iteration
    FROM critical_path AS c
    JOIN lengths AS l ON l.process = c.process
    JOIN processes AS p ON p.process = c.process
    {%- if name != 'full' %}
    LEFT JOIN kernel_symbols AS s ON s.process = c.process AND s.kernel_id = c.kernel_id
    {%- endif %}
    WHERE p.role = 'trace'
)
{%- if top > 0 %},
placed AS (
    SELECT
        {%- for column in by if column not in details %}
        {{ column }},
        {%- endfor %}
        name,
        {{ details | join(', ') }},
        ROW_NUMBER() OVER (
            {%- if by %}
            PARTITION BY {{ by | join(', ') }}
            {%- endif %}
            ORDER BY -duration_ns NULLS LAST, rank NULLS LAST, process NULLS LAST, ordinal NULLS LAST
        ) AS place
    FROM parts
)
{%- endif %}
SELECT
    {%- for column in by %}
    {{ column }},
    {%- endfor %}
    name,
    {%- for column in details if column not in by %}
    {{ column }}{{ '' if loop.last else ',' }}
    {%- endfor %}
{%- if top > 0 %}
FROM placed
WHERE place <= {{ top }}
{%- else %}
FROM parts
{%- endif %}
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    rank NULLS FIRST,
    process NULLS FIRST,
    ordinal NULLS FIRST
