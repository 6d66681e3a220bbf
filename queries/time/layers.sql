-- title: Layers
-- about: Repetitions of kernels within each unit of work, such as the layers of a model, in order of time. The parts of a layer in the forward and in the backward pass have rows of their own, and its number. Layers are compared with those of their kind, in the same pass.
-- kind: pace
-- plot: pace line=iteration x=layer y=duration_ns
-- needs: layers
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: iteration id -- unit that it lies in, see `iterations`
-- column: layer id -- ordinal of the layer within the unit, from 0; the backward pass runs through layers in reverse
-- column: pass name -- forward or backward; null if it is unknown
-- column: kind id -- ordinal of its kind within the process, from 0
-- column: start_ns ns -- start of its first kernel
-- column: duration_ns ns -- until the next one starts, of the last one until its last kernel ends
-- column: vs_median_pct pct -- above (or below) the median of all layers of its kind
-- column: kernels count -- kernels of the process that start in it
-- column: kernel_ns ns -- sum of their durations
WITH parts AS (
    SELECT
        process, rank, iteration, layer AS place, COALESCE(of_layer, layer) AS of_layer, CAST(pass AS VARCHAR) AS direction,
        kind, start_ns, duration_ns, kernels, kernel_ns
    FROM layers
),
middle AS (
    SELECT process, kind, COALESCE(direction, '') AS direction, MEDIAN(CAST(duration_ns AS DOUBLE)) AS median_ns
    FROM parts
    GROUP BY process, kind, COALESCE(direction, '')
)
SELECT
    p.rank,
    p.iteration,
    p.of_layer AS layer,
    p.direction AS pass,
    p.kind,
    p.start_ns,
    p.duration_ns,
    CAST(100 AS DOUBLE) * (CAST(p.duration_ns AS DOUBLE) - m.median_ns) / NULLIF(m.median_ns, CAST(0 AS DOUBLE)) AS vs_median_pct,
    p.kernels,
    p.kernel_ns
FROM parts AS p
LEFT JOIN middle AS m ON m.process = p.process AND m.kind = p.kind AND m.direction = COALESCE(p.direction, '')
ORDER BY p.rank NULLS FIRST, p.process NULLS FIRST, p.iteration NULLS FIRST, p.place NULLS FIRST
