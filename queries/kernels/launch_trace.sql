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
{%- set order = nulls_last('-queue_delay_ns, rank, process, start_ns, kind, target_id') %}
WITH found AS (
    SELECT
        {{ keys_of('p', details) }}CAST(l.kind AS VARCHAR) AS kind,
        l.rank, l.process, l.gpu,
        CAST(l.api_name AS VARCHAR) AS api_name,
        l.tid, l.correlation_id, l.target_id, l.api_start_ns,
        l.api_end_ns - l.api_start_ns AS api_ns,
        l.queue_delay_ns, l.start_ns,
        l.end_ns - l.start_ns AS duration_ns,
        l.end_ns - l.api_start_ns AS total_ns
    FROM launches AS l{{ join_processes('l') }}
),
{%- if top > 0 and by %}
placed AS (
    SELECT
        {{ keys_but(details) }}{{ details | join(', ') }},
        ROW_NUMBER() OVER (PARTITION BY {{ by | join(', ') }} ORDER BY {{ order }}) AS place
    FROM found
),
{%- endif %}
longest AS (
    SELECT
        {{ keys_but(details) }}{{ details | join(', ') }}
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
        {{ keys_in('l', details) }}l.{{ details | join(', l.') }},
        {{ kernel_text('k', 'name') }}
    FROM longest AS l
    JOIN kernels AS k ON k.process = l.process AND k.dispatch_id = l.target_id{{ join_symbols('k') }}
    WHERE l.kind = 'kernel'
    UNION ALL
    SELECT
        {{ keys_in('l', details) }}l.{{ details | join(', l.') }},
        CAST(c.direction AS VARCHAR) AS name
    FROM longest AS l
    JOIN memory_copies AS c ON c.process = l.process AND c.copy_id = l.target_id
    WHERE l.kind = 'copy'
)
SELECT
    {{ keys }}name,
    {{ details | reject('in', by) | join(', ') }}
FROM named
{{ order_by('queue_delay_ns DESC, rank, process, start_ns, kind, target_id') }}
