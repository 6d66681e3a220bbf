-- title: Iterations
-- about: Units of work of every process with their durations: recorded steps, graph replays, or repetitions of the kernel sequence.
-- kind: pace
-- plot: pace line=rank x=iteration y=duration_ns
-- needs: iterations
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: iteration id -- ordinal of the unit, from 0
-- column: unit text -- step, replay, iteration or repetition; layer or range if `--unit` chose these
-- column: found_by text -- evidence: range, server_marker, tokens, graph_replay or kernel_sequence
-- column: phase text -- warmup, steady, cooldown or prefill
-- column: level count -- level of durations, from 0; another one after a jump
-- column: start_ns ns -- start of its first work
-- column: duration_ns ns -- until the next one starts; of the last one, and if other work follows, until its own work ends
-- column: vs_median_pct pct -- above (or below) the median of the steady ones of the process on the same level
-- column: kernels count -- kernels of the process that start in it
-- column: kernel_ns ns -- sum of their durations
-- column: period count -- usual number of kernels of one
WITH middle AS (
    SELECT process, level, MEDIAN(CAST(duration_ns AS DOUBLE)) AS median_ns
    FROM iterations
    WHERE phase = 'steady'
    GROUP BY process, level
)
SELECT
    i.rank,
    i.iteration,
    CAST(i.unit AS VARCHAR) AS unit,
    CAST(i.found_by AS VARCHAR) AS found_by,
    CAST(i.phase AS VARCHAR) AS phase,
    i.level,
    i.start_ns,
    i.duration_ns,
    CAST(100 AS DOUBLE) * (CAST(i.duration_ns AS DOUBLE) - m.median_ns) / NULLIF(m.median_ns, CAST(0 AS DOUBLE)) AS vs_median_pct,
    i.kernels,
    i.kernel_ns,
    i.period
FROM iterations AS i
LEFT JOIN middle AS m ON m.process = i.process AND m.level = i.level
ORDER BY i.rank NULLS FIRST, i.process NULLS FIRST, i.iteration NULLS FIRST
