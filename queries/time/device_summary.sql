-- title: Devices
-- about: Time of every physical GPU over all its processes. Concurrent work of several processes counts once. Processes share a device only on the same node, whose clock they share.
-- kind: summary
-- plot: stacked label=device parts=busy_ns:compute,paused_ns,idle_ns
-- needs: gpu_segments profiler_pauses agents processes
-- by:
-- dimensions:
-- column: device id -- physical GPU
-- column: node id -- machine
-- column: hostname name -- its name
-- column: gpu_name name -- architecture
-- column: processes count -- processes that used it
-- column: span_ns ns -- first start to last end of the spans of those
-- column: busy_ns ns -- time with at least one kernel or copy of any of them
-- column: idle_ns ns -- span without any in which all of them were recorded
-- column: paused_ns ns -- span without any in which the recording of one was stopped
-- column: compute_ns ns -- time with at least one compute kernel
-- column: comm_ns ns -- time with at least one communication kernel
-- column: copy_ns ns -- time with at least one copy
-- column: busy_sum_ns ns -- busy time of the processes added up
-- column: shared_ns ns -- time in which two processes or more were busy
-- column: busy_pct pct -- busy share of the span
-- column: shared_pct pct -- shared time as a share of the busy time
{%- set flags = ['compute', 'comm', 'copy', 'busy', 'covered'] %}
{%- set lane = 'device, apart' %}
WITH segments AS (
    SELECT
        g.process, g.gpu, g.device,
        -- A GPU that is not known to be a device is one of its own.
        CASE WHEN g.device IS NULL THEN g.process * 1000 + g.gpu ELSE -1 END AS apart,
        g.start_ns, g.end_ns,
        CASE WHEN g.compute > 0 THEN 1 ELSE 0 END AS compute,
        CASE WHEN g.comm > 0 THEN 1 ELSE 0 END AS comm,
        CASE WHEN g.copies > 0 THEN 1 ELSE 0 END AS copy,
        CASE WHEN g.compute > 0 OR g.comm > 0 OR g.copies > 0 THEN 1 ELSE 0 END AS busy
    FROM gpu_segments AS g
    JOIN processes AS p ON p.process = g.process
    WHERE p.role = 'trace'
),
used AS (
    SELECT
        process, gpu,
        {{ lane }},
        MIN(start_ns) AS first_ns,
        MAX(end_ns) AS last_ns,
        {%- for flag in ['compute', 'comm', 'copy', 'busy'] %}
        CAST(SUM(CASE WHEN {{ flag }} > 0 THEN end_ns - start_ns ELSE 0 END) AS BIGINT) AS {{ flag }}_ns{{ '' if loop.last else ',' }}
        {%- endfor %}
    FROM segments
    GROUP BY process, gpu, {{ lane }}
),
paused AS (
    SELECT process, CAST(COUNT(*) AS BIGINT) AS pauses
    FROM profiler_pauses
    GROUP BY process
),
-- Segments of one GPU hide nothing of one another: only of these devices their ends must be compared.
lanes AS (
    SELECT
        u.device, u.apart,
        CASE WHEN COUNT(*) > 1 OR COUNT(s.pauses) > 0 THEN 1 ELSE 0 END AS crowded
    FROM used AS u
    LEFT JOIN paused AS s ON s.process = u.process
    GROUP BY u.device, u.apart
),
described AS (
    SELECT
        u.process, u.device, u.apart, u.first_ns, u.last_ns, u.busy_ns, p.node, p.hostname,
        CAST(a.name AS VARCHAR) AS gpu_name
    FROM used AS u
    JOIN processes AS p ON p.process = u.process
    LEFT JOIN agents AS a ON a.process = u.process AND a.gpu = u.gpu
),
devices AS (
    SELECT
        {{ lane }},
        MIN(node) AS node,
        MIN(hostname) AS hostname,
        MIN(gpu_name) AS gpu_name,
        CAST(COUNT(DISTINCT process) AS BIGINT) AS processes,
        MAX(last_ns) - MIN(first_ns) AS span_ns,
        CAST(SUM(busy_ns) AS BIGINT) AS busy_sum_ns
    FROM described
    GROUP BY {{ lane }}
),
stretches AS (
    SELECT g.device, g.apart, g.start_ns, g.end_ns, g.compute, g.comm, g.copy, g.busy, 1 AS covered
    FROM segments AS g
    JOIN lanes AS l ON l.apart = g.apart AND COALESCE(l.device, -1) = COALESCE(g.device, -1)
    WHERE g.busy > 0 AND l.crowded = 1
    UNION ALL
    SELECT
        u.device, u.apart,
        GREATEST(s.start_ns, u.first_ns) AS start_ns,
        LEAST(s.end_ns, u.last_ns) AS end_ns,
        0 AS compute,
        0 AS comm,
        0 AS copy,
        0 AS busy,
        1 AS covered
    FROM profiler_pauses AS s
    JOIN used AS u ON u.process = s.process
    WHERE s.start_ns < u.last_ns AND s.end_ns > u.first_ns
),
reached AS (
    SELECT
        {{ lane }},
        start_ns, end_ns,
        {{ flags | join(', ') }}
        {%- for flag in flags %},
        -- An interval of another kind reaches no further than its start, which hides nothing of those after it.
        MAX(CASE WHEN {{ flag }} > 0 THEN end_ns ELSE start_ns END) OVER (
            PARTITION BY {{ lane }}
            ORDER BY start_ns NULLS FIRST, end_ns NULLS FIRST, covered NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS {{ flag }}_reach
        {%- endfor %}
    FROM stretches
),
followed AS (
    SELECT
        {{ lane }},
        start_ns, end_ns,
        {{ flags | join(', ') }}
        {%- for flag in flags %},
        LAG({{ flag }}_reach) OVER (
            PARTITION BY {{ lane }}
            ORDER BY start_ns NULLS FIRST, end_ns NULLS FIRST, {{ flag }}_reach NULLS FIRST
        ) AS {{ flag }}_before
        {%- endfor %}
    FROM reached
),
unions_of_crowded AS (
    SELECT
        {{ lane }}
        {%- for flag in flags %},
        {{ union_time(flag ~ '_before', unless=flag ~ ' = 0') }} AS {{ flag }}_ns
        {%- endfor %}
    FROM followed
    GROUP BY {{ lane }}
),
unions AS (
    SELECT u.device, u.apart, u.compute_ns, u.comm_ns, u.copy_ns, u.busy_ns, u.busy_ns AS covered_ns
    FROM used AS u
    JOIN lanes AS l ON l.apart = u.apart AND COALESCE(l.device, -1) = COALESCE(u.device, -1)
    WHERE l.crowded = 0
    UNION ALL
    SELECT {{ lane }}, compute_ns, comm_ns, copy_ns, busy_ns, covered_ns
    FROM unions_of_crowded
),
-- Devices with one process share nothing.
edges AS (
    SELECT s.device, s.start_ns AS time_ns, 1 AS change
    FROM segments AS s
    JOIN devices AS d ON d.device = s.device
    WHERE s.busy > 0 AND d.processes > 1
    UNION ALL
    SELECT s.device, s.end_ns AS time_ns, -1 AS change
    FROM segments AS s
    JOIN devices AS d ON d.device = s.device
    WHERE s.busy > 0 AND d.processes > 1
),
moments AS (
    SELECT device, time_ns, CAST(SUM(change) AS BIGINT) AS change
    FROM edges
    GROUP BY device, time_ns
),
counted AS (
    SELECT
        device, time_ns,
        SUM(change) OVER (
            PARTITION BY device
            ORDER BY time_ns NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS busy_processes,
        LEAD(time_ns) OVER (PARTITION BY device ORDER BY time_ns NULLS FIRST) AS next_ns
    FROM moments
),
shared AS (
    SELECT
        device,
        {{ sum_if('busy_processes > 1', 'next_ns - time_ns') }} AS shared_ns
    FROM counted
    GROUP BY device
),
measured AS (
    SELECT
        d.device, d.node, d.hostname, d.gpu_name, d.processes, d.span_ns,
        COALESCE(u.busy_ns, 0) AS busy_ns,
        COALESCE(u.covered_ns, 0) AS covered_ns,
        COALESCE(u.compute_ns, 0) AS compute_ns,
        COALESCE(u.comm_ns, 0) AS comm_ns,
        COALESCE(u.copy_ns, 0) AS copy_ns,
        d.busy_sum_ns,
        COALESCE(s.shared_ns, 0) AS shared_ns,
        d.apart
    FROM devices AS d
    LEFT JOIN unions AS u ON u.apart = d.apart AND COALESCE(u.device, -1) = COALESCE(d.device, -1)
    LEFT JOIN shared AS s ON s.device = d.device
)
SELECT
    device,
    node,
    hostname,
    gpu_name,
    processes,
    span_ns,
    busy_ns,
    span_ns - covered_ns AS idle_ns,
    covered_ns - busy_ns AS paused_ns,
    compute_ns,
    comm_ns,
    copy_ns,
    busy_sum_ns,
    shared_ns,
    {{ percent('busy_ns', 'span_ns') }} AS busy_pct,
    {{ percent('shared_ns', 'busy_ns') }} AS shared_pct
FROM measured
ORDER BY device NULLS FIRST, apart NULLS LAST
