-- title: Kernel dispatches
-- about: Every dispatch with its place, time and launch shape, longest first.
-- kind: trace
-- needs: kernels kernel_symbols processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, category, queue_id, stream_id, tid, agent_id, region_name, graph_exec_id
-- param: top int = 0 -- longest N dispatches of each group, 0 = all
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: category name -- kernel category
-- column: rank id -- rank
-- column: process id -- process
-- column: gpu id -- GPU of the process
-- column: queue_id id -- hardware queue
-- column: stream_id id -- HIP stream
-- column: dispatch_id id -- dispatch, unique in its process
-- column: start_ns ns -- start, in the clock of the trace
-- column: duration_ns ns -- duration
-- column: workgroup_x count -- work-items of a workgroup in x
-- column: workgroup_y count -- work-items of a workgroup in y
-- column: workgroup_z count -- work-items of a workgroup in z
-- column: grid_x count -- work-items of the grid in x
-- column: grid_y count -- work-items of the grid in y
-- column: grid_z count -- work-items of the grid in z
-- column: lds_bytes bytes -- LDS of a workgroup
-- column: scratch_bytes bytes -- scratch of a work-item
-- column: agent_id id -- GPU as the profiler numbers agents
-- column: tid id -- thread that launched it
{%- set details = ['category', 'rank', 'process', 'gpu', 'queue_id', 'stream_id', 'dispatch_id', 'start_ns', 'duration_ns', 'workgroup_x', 'workgroup_y', 'workgroup_z', 'grid_x', 'grid_y', 'grid_z', 'lds_bytes', 'scratch_bytes', 'agent_id', 'tid'] %}
WITH dispatches AS (
    SELECT
        {{ keys_of('k', details) }}k.{{ details | join(', k.') }},
        {{ 'k.kernel_id, ' if name in ['base', 'mangled'] }}{{ 'k.short_name' if name in ['short', 'base'] else 'k.kernel_name' }}
        {%- if top > 0 and by %},
        RANK() OVER (
            PARTITION BY
            {%- for column in by %} {{ 'p.' if column in ['node', 'hostname'] else 'k.' }}{{ column }}{{ '' if loop.last else ',' }}{% endfor %}
            ORDER BY -k.duration_ns NULLS LAST
        ) AS level
        {%- endif %}
    FROM kernels AS k{{ join_processes('k') }}
    WHERE k.valid
)
{%- if top > 0 and by %},
-- Few rows are left after the ranking by duration alone, and only those need the order that breaks ties.
longest AS (
    SELECT
        {{ keys_but(details) }}{{ details | join(', ') }},
        {{ 'kernel_id, ' if name in ['base', 'mangled'] }}{{ 'short_name' if name in ['short', 'base'] else 'kernel_name' }}
        {{- place_by('-duration_ns, rank, process, dispatch_id, start_ns') }}
    FROM dispatches
    WHERE level <= {{ top }}
)
{%- endif %}
SELECT
    {{ keys_in('d') }}{{ kernel_name('d') }},
    d.{{ details | reject('in', by) | join(', d.') }}
FROM {{ 'longest' if top > 0 and by else 'dispatches' }} AS d{{ join_symbols('d') }}
{%- if top > 0 and by %}
WHERE d.place <= {{ top }}
{%- endif %}
ORDER BY
    {%- for column in by %}
    d.{{ column }} NULLS FIRST,
    {%- endfor %}
    d.duration_ns DESC NULLS LAST
    {%- for column in ['rank', 'process', 'dispatch_id', 'start_ns'] if column not in by %},
    d.{{ column }} NULLS LAST
    {%- endfor %}
{%- if top > 0 and not by %}
LIMIT {{ top }}
{%- endif %}
