-- title: Sampled link traffic
-- about: Bytes over XGMI links and PCIe as the hardware counted them, from the accumulators that rocprofiler-systems samples (AMD SMI). They hold all traffic of the GPU, also that of other processes. A KB of XGMI counts as 1000 bytes. An accumulator that falls started again: that step has no bytes.
-- kind: summary
-- needs: samples agents processes
-- by: rank, gpu
-- dimensions: rank, gpu, process, device, node, hostname
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: link name -- XGMI or PCIe
-- column: direction text -- read or write; null for PCIe, which counts both together
-- column: track name -- track, with the number of the link
-- column: samples count -- samples
-- column: bytes bytes -- bytes between the first and the last sample
-- column: sampled_ns ns -- time between them, added up over processes
-- column: gb_per_s gb_per_s -- bytes over sampled_ns, in 10^9 bytes per second
-- column: max_gb_per_s gb_per_s -- most between two samples
{%- set lane = 'PARTITION BY process, agent_id, name, track ORDER BY time_ns NULLS FIRST, value NULLS FIRST' %}
WITH counted AS (
    SELECT process, rank, device, agent_id, {{ texts('name, track') }}, CAST(unit AS VARCHAR) AS unit, time_ns, value
    FROM samples
    WHERE value IS NOT NULL AND (
        CAST(name AS VARCHAR) LIKE 'XGMI Read Data%' OR CAST(name AS VARCHAR) LIKE 'XGMI Write Data%'
        OR CAST(name AS VARCHAR) LIKE 'PCIe Bandwidth Acc%'
    )
),
steps AS (
    SELECT
        process, rank, device, agent_id, name, track, value, unit,
        value - LAG(value) OVER ({{ lane }}) AS grown,
        time_ns - LAG(time_ns) OVER ({{ lane }}) AS step_ns
    FROM counted
),
moved AS (
    SELECT
        s.process, s.rank, s.device, a.gpu, s.track, s.step_ns,
        CASE WHEN s.name LIKE 'XGMI%' THEN 'XGMI' ELSE 'PCIe' END AS link,
        CASE WHEN s.name LIKE '%Read%' THEN 'read' WHEN s.name LIKE '%Write%' THEN 'write' END AS direction,
        CASE WHEN s.grown > CAST(0 AS DOUBLE) THEN s.grown ELSE CAST(0 AS DOUBLE) END
            * CASE WHEN s.unit = 'KB' THEN CAST(1000 AS DOUBLE) ELSE CAST(1 AS DOUBLE) END AS bytes
    FROM steps AS s
    LEFT JOIN agents AS a ON a.process = s.process AND a.agent_id = s.agent_id
),
keyed AS (
    SELECT {{ keys_of('m') }}m.link, m.direction, m.track, m.bytes, m.step_ns
    FROM moved AS m{{ join_processes('m') }}
),
summed AS (
    SELECT
        {{ keys }}link, direction, track,
        CAST(COUNT(*) AS BIGINT) AS samples,
        CAST(SUM(bytes) AS BIGINT) AS bytes,
        CAST(COALESCE(SUM(step_ns), 0) AS BIGINT) AS sampled_ns,
        MAX(bytes / NULLIF(CAST(step_ns AS DOUBLE), CAST(0 AS DOUBLE))) AS max_gb_per_s
    FROM keyed
    GROUP BY {{ keys }}link, direction, track
)
SELECT
    {{ keys }}link,
    direction,
    track,
    samples,
    bytes,
    sampled_ns,
    {{ ratio('bytes', 'sampled_ns') }} AS gb_per_s,
    max_gb_per_s
FROM summed
{{ order_by('link, direction, track') }}
