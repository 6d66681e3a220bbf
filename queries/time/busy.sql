-- title: Busy time
-- about: Time in which each GPU did anything at all, and its share of the span of its process. A coarser grouping adds the GPUs up.
-- kind: summary
-- needs: gpu_segments processes
-- sums: gpu_segments
-- by: rank, gpu
-- dimensions: rank, gpu, process, device, node, hostname
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: busy_ns ns -- time with at least one kernel or copy running
-- column: span_ns ns -- first start to last end of the GPU activity of the process
-- column: busy_pct pct -- busy share of the span
WITH segments AS (
    SELECT
        {{ keys_of('g') }}1 AS every_row,
        g.duration_ns,
        CASE WHEN g.compute > 0 OR g.comm > 0 OR g.copies > 0 THEN g.duration_ns ELSE 0 END AS busy_ns
    FROM gpu_segments AS g
    JOIN processes AS p ON p.process = g.process
    WHERE p.role = 'trace'
),
summed AS (
    SELECT
        {{ keys }}every_row,
        CAST(SUM(busy_ns) AS BIGINT) AS busy_ns,
        CAST(SUM(duration_ns) AS BIGINT) AS span_ns
    FROM segments
    GROUP BY {{ keys }}every_row
)
SELECT
    {{ keys }}busy_ns,
    span_ns,
    {{ percent('busy_ns', 'span_ns') }} AS busy_pct
FROM summed
{{ order_by('span_ns DESC') }}
