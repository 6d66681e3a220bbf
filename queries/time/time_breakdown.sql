-- title: GPU time breakdown
-- about: Span of each GPU by computing, communicating, copying and idle time. Coarser groupings sum over GPUs.
-- kind: summary
-- plot: stacked label=by parts=compute_ns,exposed_comm_ns,exposed_copy_ns,idle_ns
-- needs: gpu_segments kernels processes
-- sums: gpu_segments
-- by: rank, gpu
-- dimensions: rank, gpu, process, device, node, hostname
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: span_ns ns -- first start to last end of the GPU activity of the process
-- column: busy_ns ns -- time with at least one kernel or copy running
-- column: idle_ns ns -- span without any
-- column: compute_ns ns -- time with at least one compute kernel
-- column: comm_ns ns -- time with at least one communication kernel
-- column: copy_ns ns -- time with at least one copy
-- column: exposed_comm_ns ns -- communication while nothing computes
-- column: exposed_copy_ns ns -- copies while nothing computes or communicates
-- column: compute_comm_overlap_ns ns -- compute and communication at the same time
-- column: kernel_sum_ns ns -- sum of the kernel durations, overlaps counted again
-- column: lead_ns ns -- process start to its first GPU activity, null when unknown or outside the process
-- column: tail_ns ns -- last GPU activity to the end of the process, null when unknown or outside the process
-- column: busy_pct pct -- busy share of the span
-- column: idle_pct pct -- idle share of the span
{%- set parts = ['busy', 'compute', 'comm', 'copy', 'exposed_comm', 'exposed_copy', 'compute_comm_overlap'] %}
WITH gpu_time AS (
    SELECT
        process, rank, gpu, device,
        MIN(start_ns) AS first_ns,
        MAX(end_ns) AS last_ns,
        SUM(duration_ns) AS span_ns,
        {%- for part in parts %}
        SUM(CASE WHEN {{ during[part] }} THEN duration_ns ELSE 0 END) AS {{ part }}_ns{{ ',' if not loop.last }}
        {%- endfor %}
    FROM gpu_segments
    GROUP BY process, rank, gpu, device
),
kernel_time AS (
    SELECT process, gpu, SUM(duration_ns) AS kernel_sum_ns
    FROM kernels
    WHERE valid
    GROUP BY process, gpu
),
process_span AS (
    SELECT process, MIN(first_ns) AS first_ns, MAX(last_ns) AS last_ns
    FROM gpu_time
    GROUP BY process
),
gpu_rows AS (
    SELECT
        {{ keys_of('g') }}{{ '1 AS every_row, ' if not by }}g.span_ns,
        g.{{ parts | join('_ns, g.') }}_ns,
        COALESCE(k.kernel_sum_ns, 0) AS kernel_sum_ns,
        CASE WHEN w.first_ns >= p.start_ns AND (p.end_ns IS NULL OR w.first_ns <= p.end_ns)
            THEN w.first_ns - p.start_ns END AS lead_ns,
        CASE WHEN w.last_ns <= p.end_ns AND (p.start_ns IS NULL OR w.last_ns >= p.start_ns)
            THEN p.end_ns - w.last_ns END AS tail_ns
    FROM gpu_time AS g
    JOIN process_span AS w ON w.process = g.process
    JOIN processes AS p ON p.process = g.process
    LEFT JOIN kernel_time AS k ON k.process = g.process AND k.gpu = g.gpu
    WHERE p.role = 'trace'
),
summed AS (
    SELECT
        {{ keys }}{{ sums('span_ns, ' ~ parts | join('_ns, ') ~ '_ns, kernel_sum_ns') }},
        CAST(CASE WHEN COUNT(lead_ns) = COUNT(*) THEN SUM(lead_ns) END AS BIGINT) AS lead_ns,
        CAST(CASE WHEN COUNT(tail_ns) = COUNT(*) THEN SUM(tail_ns) END AS BIGINT) AS tail_ns
    FROM gpu_rows
    GROUP BY {{ by | join(', ') if by else 'every_row' }}
)
SELECT
    {{ keys }}span_ns,
    busy_ns,
    span_ns - busy_ns AS idle_ns,
    compute_ns,
    comm_ns,
    copy_ns,
    exposed_comm_ns,
    exposed_copy_ns,
    compute_comm_overlap_ns,
    kernel_sum_ns,
    lead_ns,
    tail_ns,
    {{ percent('busy_ns', 'span_ns') }} AS busy_pct,
    {{ percent('span_ns - busy_ns', 'span_ns') }} AS idle_pct
FROM summed
{{ order_by('span_ns DESC') }}
