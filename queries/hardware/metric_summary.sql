-- title: Sampled metrics
-- about: Least, mean, median and greatest value of every sampled metric, such as clock, power, temperature, memory in use or link traffic, by track. A sample counts as valid until the next one of its track, which weights the mean over time.
-- kind: summary
-- needs: samples agents processes
-- by: rank, gpu
-- dimensions: rank, gpu, process, device, node, hostname
-- column: rank id -- rank
-- column: gpu id -- GPU of the process, null for metrics of no GPU
-- column: name name -- metric
-- column: track name -- its track, as recorded
-- column: unit text -- its unit, as recorded
-- column: samples count -- samples
-- column: min number -- least value
-- column: mean number -- mean of the samples
-- column: mean_over_time number -- mean of the values, each weighted by the time to the next sample of its track; null with one sample
-- column: median number -- median of the samples
-- column: max number -- greatest value
-- column: std number -- standard deviation of the samples, null with one sample
-- column: sampled_ns ns -- time from the first to the last sample, added up over the tracks of processes
{%- set lane = 'PARTITION BY process, agent_id, name, track, unit ORDER BY time_ns NULLS FIRST, value NULLS FIRST' %}
WITH valued AS (
    SELECT
        process, rank, device, agent_id, time_ns, value,
        {{ texts('name, track, unit') }}
    FROM samples
    WHERE value IS NOT NULL
),
followed AS (
    SELECT
        process, rank, device, agent_id, name, track, unit, value,
        LEAD(time_ns) OVER ({{ lane }}) - time_ns AS valid_ns
    FROM valued
),
placed AS (
    SELECT
        f.process, f.rank, f.device, a.gpu, f.name, f.track, f.unit, f.value, f.valid_ns,
        f.value * CAST(f.valid_ns AS DOUBLE) AS weighted
    FROM followed AS f
    LEFT JOIN agents AS a ON a.process = f.process AND a.agent_id = f.agent_id
),
keyed AS (
    SELECT {{ keys_of('m') }}m.name, m.track, m.unit, m.value, m.valid_ns, m.weighted
    FROM placed AS m{{ join_processes('m') }}
),
summed AS (
    SELECT
        {{ keys }}name, track, unit,
        CAST(COUNT(*) AS BIGINT) AS samples,
        MIN(value) AS least,
        AVG(value) AS mean,
        SUM(weighted) / NULLIF(CAST(SUM(valid_ns) AS DOUBLE), CAST(0 AS DOUBLE)) AS mean_over_time,
        MEDIAN(value) AS middle,
        MAX(value) AS greatest,
        STDDEV(value) AS spread,
        CAST(COALESCE(SUM(valid_ns), 0) AS BIGINT) AS sampled_ns
    FROM keyed
    GROUP BY {{ keys }}name, track, unit
)
SELECT
    {{ keys }}name,
    track,
    unit,
    samples,
    least AS "min",
    mean,
    mean_over_time,
    middle AS median,
    greatest AS "max",
    CASE WHEN samples > 1 THEN spread END AS std,
    sampled_ns
FROM summed
{{ order_by('name, track, unit') }}
