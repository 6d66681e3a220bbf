-- title: Metrics of kernels
-- about: Everything that can be computed from the collected counters, kernel by kernel: what the definitions say, over all dispatches of the kernel in all counter passes of a rank. A dispatch without one of the counters does not count; what is not collected is no zero.
-- kind: summary
-- needs: metric_sums kernel_symbols processes
-- by: kernel_name
-- dimensions: kernel_name, category, rank, gpu, process, device, node, hostname
-- param: agg word = ratio [ratio, mean] -- ratio of the sums over the dispatches, or the mean of the values of dispatches as AMD's tools print it
-- param: per word = wave [wave, cycle, second, kernel] -- what counts are divided by
-- param: panel int = 0 [0, 1000000] -- number of the panel: 200 speed of light, 250 evidence of bottlenecks, 300 memory chart, 400 roofline, 500 command processor, 600 workgroup manager, 700 wavefront, 900 derived counters, 1000 instruction mix, 1100 compute pipeline, 1200 LDS, 1300 instruction cache, 1400 scalar cache, 1500 address and data, 1600 vector cache, 1700 L2; 0 = all
-- param: missing word = hide [hide, show] -- whether metrics without a value are shown, with the reason
-- column: kernel_name name -- kernel
-- column: panel number -- number of the panel
-- column: metric name -- unique name
-- column: title text -- name for people
-- column: value number -- value
-- column: unit text -- its unit
-- column: min number -- least value of a dispatch
-- column: max number -- greatest value of a dispatch
-- column: dispatches count -- dispatches that have all counters of the metric
-- column: uncounted count -- dispatches of the kernel that lack one
-- column: peak number -- highest value that the hardware allows, null where GPUs differ
-- column: pct_of_peak pct -- share of value in peak
-- column: reason text -- why there is no value, or what it lacks; with --missing show
WITH chosen AS (
    SELECT
        {{ keys_of('m') }}m.panel, m.ordinal,
        {{ texts('metric, title, unit', 'm') }},
        m.kernel_dispatches, m.dispatches, m.numerator, m.denominator, m.valued_dispatches, m.value_sum,
        m.value_min, m.value_max, m.peak,
        CAST({{ 'm.reason' if missing == 'show' else 'NULL' }} AS VARCHAR) AS reason
    FROM metric_sums AS m{{ join_symbols('m', 'kernel_name' in by) }}{{ join_processes('m') }}
    WHERE (m.per IS NULL OR CAST(m.per AS VARCHAR) = '{{ per }}')
        {{- ' AND m.panel = ' ~ panel if panel > 0 }}
),
summed AS (
    SELECT
        {{ keys }}panel, ordinal, metric, title, unit,
        {{ metric_value() }} AS value,
        MIN(value_min) AS least,
        MAX(value_max) AS greatest,
        CAST(SUM(dispatches) AS BIGINT) AS dispatches,
        CAST(SUM(kernel_dispatches - dispatches) AS BIGINT) AS uncounted,
        CASE WHEN MIN(peak) = MAX(peak) THEN MAX(peak) END AS peak,
        MIN(reason) AS reason
    FROM chosen
    GROUP BY {{ keys }}panel, ordinal, metric, title, unit
),
labelled AS (
    SELECT
        {{ keys_as_text(['kernel_name']) }}panel, ordinal, metric, title, value, unit, least, greatest,
        dispatches, uncounted, peak, reason
    FROM summed
)
SELECT
    {{ keys }}panel,
    metric,
    title,
    value,
    unit,
    least AS "min",
    greatest AS "max",
    dispatches,
    uncounted,
    peak,
    CAST(100 AS DOUBLE) * value / NULLIF(peak, CAST(0 AS DOUBLE)) AS pct_of_peak,
    reason
FROM labelled{{ ' WHERE value IS NOT NULL' if missing == 'hide' }}
{{ order_by('ordinal, unit') }}
