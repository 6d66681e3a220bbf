-- title: MPI and GPU activity map
-- about: Share of time in calls of MPI, UCX and SHMEM and of busy GPUs, in equal bins from the first to the last of both, one heat map row per process with such calls. Times start at the first activity of each process.
-- kind: heatmap
-- plot: heatmap row=rank,process bin=bin value=call_pct from=begin_ns length=length_ns
-- needs: regions gpu_segments
-- by:
-- dimensions:
-- param: bins int = 20 [1, 10000] -- bins of the activity of each process
-- column: rank id -- rank
-- column: process id -- process
-- column: bin id -- number of the bin, from 0
-- column: begin_ns ns -- its start
-- column: length_ns ns -- its length; the last bin of a process ends with its activity
-- column: call_ns ns -- time in it with a call on any thread
-- column: busy_ns ns -- time with at least one kernel or copy on any GPU of the process
-- column: both_ns ns -- time with both
-- column: call_pct pct -- call_ns as a share of the length
-- column: busy_pct pct -- busy_ns as a share of the length
-- column: both_pct pct -- both_ns as a share of the length
{%- set lane = 'PARTITION BY process, kind ORDER BY start_ns NULLS FIRST, end_ns NULLS FIRST' %}
WITH calls AS (
    SELECT process, rank, start_ns, end_ns
    FROM regions
    WHERE valid AND CAST(domain AS VARCHAR) IN {{ message_domains }}
),
callers AS (
    SELECT process, MAX(rank) AS rank
    FROM calls
    GROUP BY process
),
work AS (
    SELECT s.process, s.start_ns, s.end_ns
    FROM gpu_segments AS s
    JOIN callers AS c ON c.process = s.process
    WHERE {{ during['busy'] }}
),
-- Time with both is that with calls and that with work, less that with either.
rows_of_kinds AS (
    SELECT process, 'call' AS kind, start_ns, end_ns
    FROM calls
    UNION ALL
    SELECT process, 'busy' AS kind, start_ns, end_ns
    FROM work
    UNION ALL
    SELECT process, 'either' AS kind, start_ns, end_ns
    FROM calls
    UNION ALL
    SELECT process, 'either' AS kind, start_ns, end_ns
    FROM work
),
{{ bin_grids('rows_of_kinds') }},
kinds AS (
    SELECT DISTINCT kind
    FROM rows_of_kinds
),
lanes AS (
    SELECT c.process, k.kind
    FROM callers AS c
    CROSS JOIN kinds AS k
),
ends AS (
    SELECT
        process, kind, start_ns, end_ns,
        MAX(end_ns) OVER ({{ lane }} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS latest_ns
    FROM rows_of_kinds
),
preceded AS (
    SELECT process, kind, start_ns, end_ns, LAG(latest_ns) OVER ({{ lane }}) AS before_ns
    FROM ends
),
intervals AS (
    SELECT
        process, kind, start_ns, end_ns,
        CASE
            WHEN before_ns IS NULL OR before_ns <= start_ns THEN end_ns - start_ns
            WHEN before_ns < end_ns THEN end_ns - before_ns
            ELSE 0
        END AS covered_ns
    FROM preceded
),
{{ covered_bins('kind') }},
summed AS (
    SELECT
        process, bin,
        MIN(start_ns) AS start_ns,
        MAX(end_ns) AS end_ns,
        {{ sum_if("kind = 'call'", 'covered_ns') }} AS call_ns,
        {{ sum_if("kind = 'busy'", 'covered_ns') }} AS busy_ns,
        {{ sum_if("kind = 'either'", 'covered_ns') }} AS either_ns
    FROM cells
    GROUP BY process, bin
)
SELECT
    c.rank,
    s.process,
    s.bin,
    s.start_ns - g.from_ns AS begin_ns,
    s.end_ns - s.start_ns AS length_ns,
    s.call_ns,
    s.busy_ns,
    s.call_ns + s.busy_ns - s.either_ns AS both_ns,
    {{ percent('s.call_ns', 's.end_ns - s.start_ns') }} AS call_pct,
    {{ percent('s.busy_ns', 's.end_ns - s.start_ns') }} AS busy_pct,
    {{ percent('s.call_ns + s.busy_ns - s.either_ns', 's.end_ns - s.start_ns') }} AS both_pct
FROM summed AS s
JOIN grids AS g ON g.process = s.process
JOIN callers AS c ON c.process = s.process
ORDER BY c.rank NULLS FIRST, s.process NULLS FIRST, s.bin NULLS FIRST
