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
        {{ keys_of('p', details) }}{{ name_or_symbol('c.name') }},
        CAST(c.kind AS VARCHAR) AS kind,
        c.rank, c.process, c.ordinal, c.start_ns, c.duration_ns,
        CAST(100 AS DOUBLE) * CAST(c.duration_ns AS DOUBLE) / CAST(l.path_ns AS DOUBLE) AS path_pct,
        CAST(c.reached_by AS VARCHAR) AS reached_by,
        c.gpu, c.tid, c.target_id, c.iteration
    FROM critical_path AS c
    JOIN lengths AS l ON l.process = c.process
    JOIN processes AS p ON p.process = c.process{{ join_symbols('c', forms=['short', 'base', 'mangled']) }}
    WHERE p.role = 'trace'
)
{%- if top > 0 %},
placed AS (
    SELECT
        {{ keys_but(details) }}name, {{ details | join(', ') }},
        ROW_NUMBER() OVER (
            {{ per_group }} ORDER BY {{ nulls_last('-duration_ns, rank, process, ordinal') }}
        ) AS place
    FROM parts
)
{%- endif %}
SELECT
    {{ keys }}name,
    {{ details | reject('in', by) | join(', ') }}
FROM {{ 'placed' if top > 0 else 'parts' }}{{ where_place() }}
ORDER BY
    {%- for column in by + ['rank', 'process', 'ordinal'] %}
    {{ column }} NULLS FIRST{{ ',' if not loop.last }}
    {%- endfor %}
