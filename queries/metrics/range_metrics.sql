-- title: Metrics by range
-- about: All metrics of the collected counters, by the innermost ROCTx range in which dispatches were launched: operators of PyTorch and Triton where they are marked. Dispatches that lack a needed counter do not count. Counter passes have no ranges of their own: their dispatches have the range of the same dispatch in the trace, the same kernel with the same shape the n-th time.
-- kind: summary
-- needs: range_metric_sums processes
-- by: path
-- dimensions: path, rank, gpu, process, device, node, hostname
-- param: agg word = ratio [ratio, mean] -- ratio of the sums over the dispatches, or the mean of the values of dispatches as AMD's tools print it
-- param: per word = wave [wave, cycle, second, kernel] -- what counts are divided by
-- param: panel int = 0 [0, 1000000] -- number of the panel: 200 speed of light, 250 evidence of bottlenecks, 300 memory chart, 400 roofline, 500 command processor, 600 workgroup manager, 700 wavefront, 900 derived counters, 1000 instruction mix, 1100 compute pipeline, 1200 LDS, 1300 instruction cache, 1400 scalar cache, 1500 address and data, 1600 vector cache, 1700 L2; 0 = all
-- param: missing word = hide [hide, show] -- whether metrics without a value are shown, with the reason
-- column: path name -- messages of the range and of those that enclose it, joined by /; null outside of ranges
-- column: panel number -- number of the panel
-- column: metric name -- unique name
-- column: title text -- name for people
-- column: value number -- value
-- column: unit text -- its unit
-- column: min number -- least value of a dispatch
-- column: max number -- greatest value of a dispatch
-- column: dispatches count -- dispatches that have all counters of the metric
-- column: uncounted count -- dispatches of the range that lack one
-- column: peak number -- highest value that the hardware allows, null where GPUs differ
-- column: pct_of_peak pct -- share of value in peak
-- column: reason text -- why there is no value, or what it lacks; with --missing show
WITH {{ metric_steps('range_metric_sums', join_processes('m')) }},
labelled AS (
    SELECT
        {{ keys_as_text(['path']) }}panel, ordinal, metric, title, value, unit, least, greatest,
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
