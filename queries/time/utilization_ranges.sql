-- title: Intervals of low utilization
-- about: Intervals in which a GPU is less busy than a limit: equal bins from the first to the last activity of its process, and consecutive bins below the limit as one row. Most idle time first. Times start at the first activity of each process.
-- kind: summary
-- needs: gpu_segments
-- by:
-- dimensions:
-- param: bins int = 100 [1, 10000] -- bins of the activity of each process
-- param: low_pct float = 50 [0, 100] -- busy share of a bin below which it counts
-- param: top int = 0 -- first N intervals, 0 = all
-- column: rank id -- rank
-- column: process id -- process
-- column: gpu id -- GPU of the process
-- column: device id -- physical GPU
-- column: begin_ns ns -- start of the interval
-- column: length_ns ns -- its length
-- column: bins count -- its bins
-- column: busy_ns ns -- time in it with at least one kernel or copy running
-- column: idle_ns ns -- the rest
-- column: busy_pct pct -- busy_ns as a share of the length
WITH {{ bin_grids('gpu_segments') }},
lanes AS (
    SELECT process, rank, gpu, MAX(device) AS device
    FROM gpu_segments
    GROUP BY process, rank, gpu
),
intervals AS (
    SELECT process, gpu, start_ns, end_ns, duration_ns AS covered_ns
    FROM gpu_segments
    WHERE {{ during['busy'] }}
),
{{ covered_bins('gpu') }},
low AS (
    SELECT
        process, gpu, bin, start_ns, end_ns,
        covered_ns AS busy_ns,
        bin - CAST(ROW_NUMBER() OVER (PARTITION BY process, gpu ORDER BY bin NULLS FIRST) AS BIGINT) AS run
    FROM cells
    WHERE CAST(100 AS DOUBLE) * CAST(covered_ns AS DOUBLE) < CAST({{ low_pct }} AS DOUBLE) * CAST(end_ns - start_ns AS DOUBLE)
),
low_intervals AS (
    SELECT
        process, gpu, run,
        MIN(start_ns) AS start_ns,
        MAX(end_ns) AS end_ns,
        CAST(COUNT(*) AS BIGINT) AS bins,
        {{ sums('busy_ns') }}
    FROM low
    GROUP BY process, gpu, run
)
SELECT
    u.rank,
    u.process,
    u.gpu,
    u.device,
    s.start_ns - g.from_ns AS begin_ns,
    s.end_ns - s.start_ns AS length_ns,
    s.bins,
    s.busy_ns,
    s.end_ns - s.start_ns - s.busy_ns AS idle_ns,
    {{ percent('s.busy_ns', 's.end_ns - s.start_ns') }} AS busy_pct
FROM low_intervals AS s
JOIN grids AS g ON g.process = s.process
JOIN lanes AS u ON u.process = s.process AND u.gpu = s.gpu
ORDER BY
    idle_ns DESC NULLS LAST,
    u.rank NULLS LAST,
    u.process NULLS LAST,
    u.gpu NULLS LAST,
    begin_ns NULLS LAST
{%- if top > 0 %}
LIMIT {{ top }}
{%- endif %}
