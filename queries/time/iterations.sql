-- title: Iterations
-- about: Repetitions in the kernel sequence of every process, found without markers, with their durations. Processes without a period have none.
-- kind: pace
-- plot: pace line=rank x=iteration y=duration_ns
-- needs: iterations
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: iteration id -- ordinal of the repetition, from 0
-- column: phase text -- warmup, steady or cooldown
-- column: start_ns ns -- start of its first kernel
-- column: duration_ns ns -- until the next one starts, of the last one until its last kernel ends
-- column: vs_median_pct pct -- above (or below) the median of the steady ones of the process
-- column: kernels count -- kernels of the process that start in it
-- column: kernel_ns ns -- sum of their durations
-- column: period count -- usual number of kernels of a repetition in the sequence that repeats
WITH middle AS (
    SELECT process, MEDIAN(CAST(duration_ns AS DOUBLE)) AS median_ns
    FROM iterations
    WHERE phase = 'steady'
    GROUP BY process
)
SELECT
    i.rank,
    i.iteration,
    CAST(i.phase AS VARCHAR) AS phase,
    i.start_ns,
    i.duration_ns,
    CAST(100 AS DOUBLE) * (CAST(i.duration_ns AS DOUBLE) - m.median_ns) / NULLIF(m.median_ns, CAST(0 AS DOUBLE)) AS vs_median_pct,
    i.kernels,
    i.kernel_ns,
    i.period
FROM iterations AS i
LEFT JOIN middle AS m ON m.process = i.process
ORDER BY i.rank NULLS FIRST, i.process NULLS FIRST, i.iteration NULLS FIRST
