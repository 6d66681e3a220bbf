-- title: Projected ranges
-- about: Statistics of the time from the first start to the last end of the GPU work launched in a ROCTx range, by path. It holds the gaps between that work, unlike the GPU time of `range_summary`. Ranges that launched nothing are only counted.
-- kind: summary
-- needs: ranges processes
-- by:
-- dimensions: rank, process, node, hostname, tid
-- param: top int = 0 -- first N paths of each group, 0 = all
-- column: path name -- messages from the outermost range to this one
-- column: ranges count -- ranges of the path
-- column: projected count -- of them with GPU work
-- column: total_ns ns -- sum of the projected times
-- column: mean_ns ns -- mean
-- column: median_ns ns -- median
-- column: min_ns ns -- shortest
-- column: max_ns ns -- longest
-- column: std_ns ns -- sample standard deviation, null for one
-- column: work_ns ns -- sum of the durations of their kernels and copies, overlaps counted again
-- column: work_pct pct -- share of it in total_ns; more than 100 where work overlaps
WITH spans AS (
    SELECT
        {{ keys_of('r') }}r.path,
        r.gpu_end_ns - r.gpu_start_ns AS span_ns,
        CASE WHEN r.gpu_start_ns IS NULL THEN 0 ELSE r.kernel_ns + r.copy_ns END AS work_ns
    FROM ranges AS r{{ join_processes('r') }}
),
summed AS (
    SELECT
        {{ keys }}path,
        CAST(COUNT(*) AS BIGINT) AS ranges,
        CAST(COUNT(span_ns) AS BIGINT) AS projected,
        CAST(COALESCE(SUM(span_ns), 0) AS BIGINT) AS total_ns,
        MEDIAN(CAST(span_ns AS DOUBLE)) AS median_ns,
        MIN(span_ns) AS min_ns,
        MAX(span_ns) AS max_ns,
        STDDEV(CAST(span_ns AS DOUBLE)) AS std_ns,
        {{ sums('work_ns') }}
    FROM spans
    GROUP BY {{ keys }}path
),
placed AS (
    SELECT
        {{ keys }}path, ranges, projected, total_ns, median_ns, min_ns, max_ns, std_ns, work_ns
        {{- place_by('-total_ns, path') }}
    FROM summed
)
SELECT
    {{ keys }}path,
    ranges,
    projected,
    total_ns,
    {{ ratio('total_ns', 'projected') }} AS mean_ns,
    median_ns,
    min_ns,
    max_ns,
    CASE WHEN projected > 1 THEN std_ns END AS std_ns,
    work_ns,
    {{ percent('work_ns', 'total_ns') }} AS work_pct
FROM placed
{{ top_by('total_ns DESC, path') }}
