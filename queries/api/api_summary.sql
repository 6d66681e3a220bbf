-- title: API summary
-- about: Time and calls of every API function and range, with its self time.
-- kind: summary
-- plot: ranked label=name value=self_ns role=neutral
-- needs: region_times processes
-- by:
-- dimensions: rank, process, node, hostname, tid, category
-- param: top int = 0 -- first N functions of each group, 0 = all
-- column: domain name -- hip, hsa, marker, rccl and so on
-- column: name name -- function or range operation
-- column: calls count -- calls
-- column: total_ns ns -- sum of the durations
-- column: self_ns ns -- the same without the time that calls inside them on the same thread cover
-- column: mean_ns ns -- mean duration
-- column: median_ns ns -- median duration
-- column: p95_ns ns -- 95th percentile of the durations, interpolated
-- column: max_ns ns -- longest call
WITH calls AS (
    SELECT
        {{ keys_of('r') }}r.domain, r.name,
        r.region_ns AS duration_ns,
        r.self_ns
    FROM region_times AS r{{ join_processes('r') }}
),
summed AS (
    SELECT
        {{ keys }}domain, name,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        CAST(SUM(self_ns) AS BIGINT) AS self_ns,
        MEDIAN(CAST(duration_ns AS DOUBLE)) AS median_ns,
        QUANTILE_CONT(CAST(duration_ns AS DOUBLE), 0.95) AS p95_ns,
        MAX(duration_ns) AS max_ns
    FROM calls
    GROUP BY {{ keys }}domain, name
),
labelled AS (
    SELECT
        {{ keys }}{{ texts('domain, name') }},
        calls, total_ns, self_ns, median_ns, p95_ns, max_ns
        {{- place_by('-total_ns, CAST(domain AS VARCHAR), CAST(name AS VARCHAR)') }}
    FROM summed
)
SELECT
    {{ keys }}domain,
    name,
    calls,
    total_ns,
    self_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    median_ns,
    p95_ns,
    max_ns
FROM labelled
{{ top_by('total_ns DESC, domain, name') }}
