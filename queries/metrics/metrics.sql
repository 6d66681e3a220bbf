-- title: Kernel metrics
-- about: All metrics of the collected counters, by kernel, over all its dispatches in all counter passes of a rank. Dispatches that lack a needed counter do not count; missing counters are not zero.
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
WITH {{ metric_steps('metric_sums', join_symbols('m', 'kernel_name' in by) ~ join_processes('m')) }},
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
