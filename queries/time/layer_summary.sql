-- title: Layer summary
-- about: Time of each layer over all units of work of every process: which layer is slow.
-- kind: summary
-- needs: layers
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: layer id -- ordinal within the unit, from 0
-- column: units count -- units that have this layer
-- column: total_ns ns -- time of the layer over all units
-- column: pct pct -- share of the time of all layers
-- column: mean_ns ns -- mean
-- column: median_ns ns -- median
-- column: min_ns ns -- shortest
-- column: max_ns ns -- longest
-- column: vs_median_pct pct -- median above (or below) the median of all layers of the process
-- column: kernels number -- mean number of kernels
-- column: kernel_ns ns -- sum of the durations of its kernels
WITH middle AS (
    SELECT process, MEDIAN(CAST(duration_ns AS DOUBLE)) AS all_median_ns, CAST(SUM(duration_ns) AS BIGINT) AS all_ns
    FROM layers
    GROUP BY process
),
per_layer AS (
    SELECT
        process, rank, layer,
        CAST(COUNT(*) AS BIGINT) AS units,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        MEDIAN(CAST(duration_ns AS DOUBLE)) AS median_ns,
        MIN(duration_ns) AS min_ns,
        MAX(duration_ns) AS max_ns,
        CAST(SUM(kernels) AS BIGINT) AS kernels,
        CAST(SUM(kernel_ns) AS BIGINT) AS kernel_ns
    FROM layers
    GROUP BY process, rank, layer
)
SELECT
    l.rank,
    l.layer,
    l.units,
    l.total_ns,
    {{ percent('l.total_ns', 'm.all_ns') }} AS pct,
    {{ ratio('l.total_ns', 'l.units') }} AS mean_ns,
    l.median_ns,
    l.min_ns,
    l.max_ns,
    CAST(100 AS DOUBLE) * (l.median_ns - m.all_median_ns) / NULLIF(m.all_median_ns, CAST(0 AS DOUBLE)) AS vs_median_pct,
    {{ ratio('l.kernels', 'l.units') }} AS kernels,
    l.kernel_ns
FROM per_layer AS l
JOIN middle AS m ON m.process = l.process
ORDER BY l.rank NULLS FIRST, l.process NULLS FIRST, l.layer NULLS FIRST
