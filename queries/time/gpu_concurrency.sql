-- title: GPU concurrency
-- about: How long each GPU ran how many kernels at once within the span of its process. A coarser grouping adds the GPUs up.
-- kind: summary
-- plot: stacked_by label=by part=kernels_running value=time_ns
-- needs: gpu_segments processes
-- by: rank, gpu
-- dimensions: rank, gpu, process, device, node, hostname
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: kernels_running count -- kernels at once, compute and communication; 0 while there are only copies or nothing
-- column: time_ns ns -- time with that many
-- column: copies_ns ns -- part of it with at least one copy running
-- column: pct pct -- share of the span of the group
WITH segments AS (
    SELECT
        {{ keys_of('g') }}g.compute + g.comm AS kernels_running,
        g.copies, g.duration_ns
    FROM gpu_segments AS g
    JOIN processes AS p ON p.process = g.process
    WHERE p.role = 'trace'
),
summed AS (
    SELECT
        {{ keys }}kernels_running,
        CAST(SUM(duration_ns) AS BIGINT) AS time_ns,
        {{ sum_if('copies > 0', 'duration_ns') }} AS copies_ns
    FROM segments
    GROUP BY {{ keys }}kernels_running
),
shared AS (
    SELECT
        {{ keys }}kernels_running, time_ns, copies_ns,
        CAST(SUM(time_ns) OVER ({{ per_group }}) AS BIGINT) AS span_ns
    FROM summed
)
SELECT
    {{ keys }}kernels_running,
    time_ns,
    copies_ns,
    {{ percent('time_ns', 'span_ns') }} AS pct
FROM shared
{{ order_by('kernels_running') }}
