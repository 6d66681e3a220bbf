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
{%- set parts = [
    'span', 'busy', 'compute', 'compute_alone', 'comm', 'compute_comm_overlap', 'exposed_comm', 'copy',
    'compute_copy_overlap', 'comm_copy_overlap', 'all_overlap', 'exposed_copy'
] %}
WITH segments AS (
    SELECT
        {{ keys_of('g') }}{{ '1 AS every_row, ' if not by }}g.compute, g.comm, g.copies, g.duration_ns
    FROM gpu_segments AS g
    JOIN processes AS p ON p.process = g.process
    WHERE p.role = 'trace'
),
summed AS (
    SELECT
        {{ keys }}
        {%- for part in parts %}
        {{ sum_if(during[part], 'duration_ns') }} AS {{ part }}_ns{{ ',' if not loop.last }}
        {%- endfor %}
    FROM segments
    GROUP BY {{ by | join(', ') if by else 'every_row' }}
)
SELECT
    {{ keys }}{{ parts | join('_ns,\n    ') }}_ns,
    {{ percent('compute_comm_overlap_ns', 'comm_ns') }} AS comm_hidden_pct,
    {{ percent('copy_ns - exposed_copy_ns', 'copy_ns') }} AS copy_hidden_pct,
    {{ percent('exposed_comm_ns + exposed_copy_ns', 'busy_ns') }} AS exposed_pct
FROM summed
{{ order_by('span_ns DESC') }}
