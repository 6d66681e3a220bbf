-- title: Launches
-- about: Every kernel and copy with the API call that launched it, longest wait for the GPU first. The call, the wait and the work add up to total_ns. What has no recorded call is missing here and counted in launch_summary.
-- kind: trace
-- needs: launches kernels memory_copies kernel_symbols processes
-- by:
-- dimensions: rank, gpu, process, node, hostname, kind, api_name, tid
-- param: top int = 0 -- longest N waits of each group, 0 = all
-- column: name name -- kernel in the name form that was asked for, or direction of a copy
-- column: kind name -- kernel or copy
-- column: rank id -- rank
-- column: process id -- process
-- column: gpu id -- GPU of the process
-- column: api_name name -- the call
-- column: tid id -- thread of the call
-- column: correlation_id id -- what the call shares with what it launched
-- column: target_id id -- dispatch or copy, unique of its kind in its process
-- column: api_start_ns ns -- start of the call, in the clock of the trace
-- column: api_ns ns -- length of the call
-- column: queue_delay_ns ns -- end of the call to the start on the GPU; negative when the GPU starts first
-- column: start_ns ns -- start on the GPU
-- column: duration_ns ns -- time on the GPU
-- column: total_ns ns -- start of the call to the end on the GPU
{%- set details = ['kind', 'rank', 'process', 'gpu', 'api_name', 'tid', 'correlation_id', 'target_id', 'api_start_ns', 'api_ns', 'queue_delay_ns', 'start_ns', 'duration_ns', 'total_ns'] %}
{%- set texts = ['kind', 'api_name'] %}
{%- set order = '-queue_delay_ns NULLS LAST, rank NULLS LAST, process NULLS LAST, start_ns NULLS LAST, kind NULLS LAST, target_id NULLS LAST' %}
WITH found AS (
    SELECT
        {%- for column in by if column not in details %}
        p.{{ column }},
        {%- endfor %}
        CAST(l.kind AS VARCHAR) AS kind,
        l.rank,
        l.process,
        l.gpu,
        CAST(l.api_name AS VARCHAR) AS api_name,
        l.tid,
        l.correlation_id,
        l.target_id,
        l.api_start_ns,
        l.api_end_ns - l.api_start_ns AS api_ns,
        l.queue_delay_ns,
        l.start_ns,
        l.end_ns - l.start_ns AS duration_ns,
        l.end_ns - l.api_start_ns AS total_ns
    FROM launches AS l
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = l.process
    {%- endif %}
),
{%- if top > 0 and by %}
placed AS (
    SELECT
        {%- for column in by if column not in details %}
        {{ column }},
        {%- endfor %}
        {{ details | join(', ') }},
        ROW_NUMBER() OVER (PARTITION BY {{ by | join(', ') }} ORDER BY {{ order }}) AS place
    FROM found
),
{%- endif %}
longest AS (
    SELECT
        {%- for column in by if column not in details %}
        {{ column }},
        {%- endfor %}
        {{ details | join(', ') }}
    {%- if top > 0 and by %}
    FROM placed
    WHERE place <= {{ top }}
    {%- elif top > 0 %}
    FROM found
    ORDER BY {{ order }}
    LIMIT {{ top }}
    {%- else %}
    FROM found
    {%- endif %}
),
named AS (
    SELECT
        {%- for column in by if column not in details %}
        l.{{ column }},
        {%- endfor %}
        {%- for column in details %}
        l.{{ column }},
        {%- endfor %}
        {%- if name == 'short' %}
        CAST(k.short_name AS VARCHAR) AS name
        {%- elif name == 'base' %}
        COALESCE(CAST(s.base_name AS VARCHAR), CAST(k.short_name AS VARCHAR)) AS name
        {%- elif name == 'mangled' %}
        COALESCE(CAST(s.mangled_name AS VARCHAR), CAST(k.kernel_name AS VARCHAR)) AS name
        {%- else %}
        CAST(k.kernel_name AS VARCHAR) AS name
        {%- endif %}
    FROM longest AS l
    JOIN kernels AS k ON k.process = l.process AND k.dispatch_id = l.target_id
    {%- if name in ['base', 'mangled'] %}
    LEFT JOIN kernel_symbols AS s ON s.process = k.process AND s.kernel_id = k.kernel_id
    {%- endif %}
    WHERE l.kind = 'kernel'
    UNION ALL
    SELECT
        {%- for column in by if column not in details %}
        l.{{ column }},
        {%- endfor %}
        {%- for column in details %}
        l.{{ column }},
        {%- endfor %}
        CAST(c.direction AS VARCHAR) AS name
    FROM longest AS l
    JOIN memory_copies AS c ON c.process = l.process AND c.copy_id = l.target_id
    WHERE l.kind = 'copy'
)
SELECT
    {%- for column in by %}
    {{ column }},
    {%- endfor %}
    name,
    {%- for column in details if column not in by %}
    {{ column }}{{ '' if loop.last else ',' }}
    {%- endfor %}
FROM named
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    queue_delay_ns DESC NULLS LAST,
    rank NULLS LAST,
    process NULLS LAST,
    start_ns NULLS LAST,
    kind NULLS LAST,
    target_id NULLS LAST
