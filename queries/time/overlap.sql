-- title: Overlap of compute, communication and copies
-- about: How much communication and copying each GPU hid behind other work, and how much was exposed. A coarser grouping adds the GPUs up.
-- kind: summary
-- needs: gpu_segments processes
-- sums: gpu_segments
-- by: rank, gpu
-- dimensions: rank, gpu, process, device, node, hostname
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: span_ns ns -- first start to last end of the GPU activity of the process
-- column: busy_ns ns -- time with at least one kernel or copy running
-- column: compute_ns ns -- time with at least one compute kernel
-- column: compute_alone_ns ns -- compute without communication and copies
-- column: comm_ns ns -- time with at least one communication kernel
-- column: compute_comm_overlap_ns ns -- compute and communication at the same time
-- column: exposed_comm_ns ns -- communication while nothing computes
-- column: copy_ns ns -- time with at least one copy
-- column: compute_copy_overlap_ns ns -- compute and copies at the same time
-- column: comm_copy_overlap_ns ns -- communication and copies at the same time
-- column: all_overlap_ns ns -- all three at the same time
-- column: exposed_copy_ns ns -- copies while nothing computes or communicates
-- column: comm_hidden_pct pct -- share of communication that computing hides
-- column: copy_hidden_pct pct -- share of copying that kernels hide
-- column: exposed_pct pct -- exposed communication and copies as a share of the busy time
WITH segments AS (
    SELECT
        {%- for column in by %}
        {{ 'p.' if column in ['node', 'hostname'] else 'g.' }}{{ column }},
        {%- endfor %}
        {%- if not by %}
        1 AS every_row,
        {%- endif %}
        g.compute,
        g.comm,
        g.copies,
        g.duration_ns
    FROM gpu_segments AS g
    JOIN processes AS p ON p.process = g.process
    WHERE p.role = 'trace'
),
{%- set sums = {
    'span_ns': '1 = 1',
    'busy_ns': 'compute > 0 OR comm > 0 OR copies > 0',
    'compute_ns': 'compute > 0',
    'compute_alone_ns': 'compute > 0 AND comm = 0 AND copies = 0',
    'comm_ns': 'comm > 0',
    'compute_comm_overlap_ns': 'compute > 0 AND comm > 0',
    'exposed_comm_ns': 'comm > 0 AND compute = 0',
    'copy_ns': 'copies > 0',
    'compute_copy_overlap_ns': 'compute > 0 AND copies > 0',
    'comm_copy_overlap_ns': 'comm > 0 AND copies > 0',
    'all_overlap_ns': 'compute > 0 AND comm > 0 AND copies > 0',
    'exposed_copy_ns': 'copies > 0 AND compute = 0 AND comm = 0'
} %}
{%- set names = ['span_ns', 'busy_ns', 'compute_ns', 'compute_alone_ns', 'comm_ns', 'compute_comm_overlap_ns', 'exposed_comm_ns', 'copy_ns', 'compute_copy_overlap_ns', 'comm_copy_overlap_ns', 'all_overlap_ns', 'exposed_copy_ns'] %}
summed AS (
    SELECT
        {%- for column in by %}
        {{ column }},
        {%- endfor %}
        {%- for column in names %}
        CAST(SUM(CASE WHEN {{ sums[column] }} THEN duration_ns ELSE 0 END) AS BIGINT) AS {{ column }}{{ '' if loop.last else ',' }}
        {%- endfor %}
    FROM segments
    GROUP BY {{ by | join(', ') if by else 'every_row' }}
)
SELECT
    {%- for column in by %}
    {{ column }},
    {%- endfor %}
    {{ names | join(',\n    ') }},
    CAST(100 AS DOUBLE) * CAST(compute_comm_overlap_ns AS DOUBLE) / NULLIF(CAST(comm_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS comm_hidden_pct,
    CAST(100 AS DOUBLE) * CAST(copy_ns - exposed_copy_ns AS DOUBLE) / NULLIF(CAST(copy_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS copy_hidden_pct,
    CAST(100 AS DOUBLE) * CAST(exposed_comm_ns + exposed_copy_ns AS DOUBLE) / NULLIF(CAST(busy_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS exposed_pct
FROM summed
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    span_ns DESC NULLS LAST
