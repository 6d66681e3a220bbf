-- title: Speed of light
-- about: How near the GPU comes to what it can do: rates and utilisations from counters against the highest values that the hardware allows. Over all kernels unless they are grouped.
-- kind: summary
-- plot: bars label=metric value=pct_of_peak
-- needs: metric_sums kernel_symbols processes
-- by:
-- dimensions: kernel_name, category, rank, gpu, process, device, node, hostname
-- param: agg word = ratio [ratio, mean] -- ratio of the sums over the dispatches, or the mean of the values of dispatches as AMD's tools print it
-- column: metric text -- what is measured
-- column: value number -- value
-- column: unit text -- its unit
-- column: peak number -- highest value that the hardware allows, null where GPUs differ, of the device of the trace
-- column: pct_of_peak pct -- share of value in peak
-- column: dispatches count -- dispatches that have the counters of the metric
WITH chosen AS (
    SELECT
        {{ keys_of('m') }}m.ordinal,
        CAST(m.title AS VARCHAR) AS metric,
        CAST(m.unit AS VARCHAR) AS unit,
        m.dispatches, m.numerator, m.denominator, m.valued_dispatches, m.value_sum, m.peak
    FROM metric_sums AS m{{ join_symbols('m', 'kernel_name' in by) }}{{ join_processes('m') }}
    WHERE m.panel = 200
),
summed AS (
    SELECT
        {{ keys }}ordinal, metric, unit,
        {{ metric_value() }} AS value,
        CASE WHEN MIN(peak) = MAX(peak) THEN MAX(peak) END AS peak,
        CAST(SUM(dispatches) AS BIGINT) AS dispatches
    FROM chosen
    GROUP BY {{ keys }}ordinal, metric, unit
),
labelled AS (
    SELECT
        {{ keys_as_text(['kernel_name']) }}ordinal, metric, value, unit, peak, dispatches
    FROM summed
)
SELECT
    {{ keys }}metric,
    value,
    unit,
    peak,
    CAST(100 AS DOUBLE) * value / NULLIF(peak, CAST(0 AS DOUBLE)) AS pct_of_peak,
    dispatches
FROM labelled
WHERE value IS NOT NULL
{{ order_by('ordinal') }}
