-- title: Layer summary
-- about: Time of each layer over all units of work of every process: which layer is slow. The parts of a layer in the forward and in the backward pass have rows of their own. A layer is compared with those of its kind, in the same pass.
-- kind: summary
-- needs: layers
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: layer id -- ordinal of the layer within the unit, from 0; the backward pass runs through layers in reverse
-- column: pass name -- forward or backward; null if it is unknown
-- column: kind id -- ordinal of its kind within the process, from 0, in most units
-- column: units count -- units that have this layer
-- column: total_ns ns -- time of the layer over all units
-- column: pct pct -- share of the time of all layers, in both passes
-- column: mean_ns ns -- mean
-- column: median_ns ns -- median
-- column: min_ns ns -- shortest
-- column: max_ns ns -- longest
-- column: vs_median_pct pct -- median above (or below) the median of all layers of its kind
-- column: kernels number -- mean number of kernels
-- column: kernel_ns ns -- sum of the durations of its kernels
WITH parts AS (
    SELECT
        process, rank, COALESCE(of_layer, layer) AS layer, COALESCE(CAST(pass AS VARCHAR), '') AS direction, kind, duration_ns, kernels, kernel_ns
    FROM layers
),
whole AS (
    SELECT process, CAST(SUM(duration_ns) AS BIGINT) AS all_ns
    FROM parts
    GROUP BY process
),
middle AS (
    SELECT process, kind, direction, MEDIAN(CAST(duration_ns AS DOUBLE)) AS all_median_ns
    FROM parts
    GROUP BY process, kind, direction
),
counted AS (
    SELECT process, layer, direction, kind, CAST(COUNT(*) AS BIGINT) AS units
    FROM parts
    GROUP BY process, layer, direction, kind
),
ranked AS (
    SELECT
        process, layer, direction, kind,
        ROW_NUMBER() OVER (PARTITION BY process, layer, direction ORDER BY -units NULLS FIRST, kind NULLS FIRST) AS place
    FROM counted
),
kinds AS (
    SELECT process, layer, direction, kind
    FROM ranked
    WHERE place = 1
),
per_layer AS (
    SELECT
        process, rank, layer, direction,
        CAST(COUNT(*) AS BIGINT) AS units,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        MEDIAN(CAST(duration_ns AS DOUBLE)) AS median_ns,
        MIN(duration_ns) AS min_ns,
        MAX(duration_ns) AS max_ns,
        CAST(SUM(kernels) AS BIGINT) AS kernels,
        CAST(SUM(kernel_ns) AS BIGINT) AS kernel_ns
    FROM parts
    GROUP BY process, rank, layer, direction
)
SELECT
    l.rank,
    l.layer,
    CASE WHEN l.direction <> '' THEN l.direction END AS pass,
    r.kind,
    l.units,
    l.total_ns,
    {{ percent('l.total_ns', 'w.all_ns') }} AS pct,
    {{ ratio('l.total_ns', 'l.units') }} AS mean_ns,
    l.median_ns,
    l.min_ns,
    l.max_ns,
    CAST(100 AS DOUBLE) * (l.median_ns - m.all_median_ns) / NULLIF(m.all_median_ns, CAST(0 AS DOUBLE)) AS vs_median_pct,
    {{ ratio('l.kernels', 'l.units') }} AS kernels,
    l.kernel_ns
FROM per_layer AS l
JOIN whole AS w ON w.process = l.process
JOIN kinds AS r ON r.process = l.process AND r.layer = l.layer AND r.direction = l.direction
JOIN middle AS m ON m.process = l.process AND m.kind = r.kind AND m.direction = l.direction
ORDER BY l.rank NULLS FIRST, l.process NULLS FIRST, l.layer NULLS FIRST, CASE l.direction WHEN 'forward' THEN 0 WHEN 'backward' THEN 1 ELSE 2 END NULLS FIRST
