-- title: Layers
-- about: Repetitions of kernels within each unit of work, such as the layers of a model, in order of time. Layers are compared with those of their kind.
-- kind: pace
-- plot: pace line=iteration x=layer y=duration_ns
-- needs: layers
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: iteration id -- unit that it lies in, see `iterations`
-- column: layer id -- ordinal within the unit, from 0
-- column: kind id -- ordinal of its kind within the process, from 0
-- column: start_ns ns -- start of its first kernel
-- column: duration_ns ns -- until the next one starts, of the last one until its last kernel ends
-- column: vs_median_pct pct -- above (or below) the median of all layers of its kind
-- column: kernels count -- kernels of the process that start in it
-- column: kernel_ns ns -- sum of their durations
WITH middle AS (
    SELECT process, kind, MEDIAN(CAST(duration_ns AS DOUBLE)) AS median_ns
    FROM layers
    GROUP BY process, kind
)
SELECT
    l.rank,
    l.iteration,
    l.layer,
    l.kind,
    l.start_ns,
    l.duration_ns,
    CAST(100 AS DOUBLE) * (CAST(l.duration_ns AS DOUBLE) - m.median_ns) / NULLIF(m.median_ns, CAST(0 AS DOUBLE)) AS vs_median_pct,
    l.kernels,
    l.kernel_ns
FROM layers AS l
LEFT JOIN middle AS m ON m.process = l.process AND m.kind = l.kind
ORDER BY l.rank NULLS FIRST, l.process NULLS FIRST, l.iteration NULLS FIRST, l.layer NULLS FIRST
