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
        {%- for column in by if column not in details %}
        {{ 'p.' if column in ['node', 'hostname'] else 'k.' }}{{ column }},
        {%- endfor %}
        {%- for column in details %}
        k.{{ column }},
        {%- endfor %}
        {%- if name in ['base', 'mangled'] %}
        k.kernel_id,
        {%- endif %}
        {{ 'k.short_name' if name in ['short', 'base'] else 'k.kernel_name' }}
        {%- if top > 0 and by %},
        RANK() OVER (
            PARTITION BY
            {%- for column in by %} {{ 'p.' if column in ['node', 'hostname'] else 'k.' }}{{ column }}{{ '' if loop.last else ',' }}{% endfor %}
            ORDER BY -k.duration_ns NULLS LAST
        ) AS level
        {%- endif %}
    FROM kernels AS k
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = k.process
    {%- endif %}
    WHERE k.valid
)
{%- if top > 0 and by %},
-- Few rows are left after the ranking by duration alone, and only those need the order that tells ties apart.
longest AS (
    SELECT
        {%- for column in by if column not in details %}
        {{ column }},
        {%- endfor %}
        {{ details | join(', ') }},
        {%- if name in ['base', 'mangled'] %}
        kernel_id,
        {%- endif %}
        {{ 'short_name' if name in ['short', 'base'] else 'kernel_name' }},
        ROW_NUMBER() OVER (
            PARTITION BY {{ by | join(', ') }}
            ORDER BY -duration_ns NULLS LAST, rank NULLS LAST, process NULLS LAST, dispatch_id NULLS LAST, start_ns NULLS LAST
        ) AS place
    FROM dispatches
    WHERE level <= {{ top }}
)
{%- endif %}
SELECT
    {%- for column in by %}
    d.{{ column }},
    {%- endfor %}
    {%- if name == 'short' %}
    d.short_name AS kernel_name,
    {%- elif name == 'base' %}
    COALESCE(CAST(s.base_name AS VARCHAR), CAST(d.short_name AS VARCHAR)) AS kernel_name,
    {%- elif name == 'mangled' %}
    COALESCE(CAST(s.mangled_name AS VARCHAR), CAST(d.kernel_name AS VARCHAR)) AS kernel_name,
    {%- else %}
    d.kernel_name,
    {%- endif %}
    {%- for column in details if column not in by %}
    d.{{ column }}{{ '' if loop.last else ',' }}
    {%- endfor %}
FROM {{ 'longest' if top > 0 and by else 'dispatches' }} AS d
{%- if name in ['base', 'mangled'] %}
LEFT JOIN kernel_symbols AS s ON s.process = d.process AND s.kernel_id = d.kernel_id
{%- endif %}
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
