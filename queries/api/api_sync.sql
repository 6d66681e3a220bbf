-- title: Waiting calls
-- about: Time that threads were blocked in calls that wait for the GPU, and whether a GPU of the process worked meanwhile. While it works the wait only shows who is ahead; while it idles nobody works. Copies that block are among them; a wait inside another call counts in both.
-- kind: summary
-- needs: api_calls processes
-- by:
-- dimensions: rank, process, node, hostname, tid
-- param: top int = 0 -- first N functions of each group, 0 = all
-- column: domain name -- hip, hsa and so on
-- column: name name -- function
-- column: class name -- synchronise or blocking_copy
-- column: calls count -- calls
-- column: blocked_ns ns -- sum of the durations
-- column: gpu_busy_ns ns -- part of it in which a GPU of the process ran a kernel or copy
-- column: gpu_idle_ns ns -- the rest: blocked while all GPUs of the process were idle
-- column: gpu_idle_pct pct -- share of it
-- column: mean_ns ns -- mean duration
-- column: median_ns ns -- median duration
-- column: max_ns ns -- longest call
WITH calls AS (
    SELECT
        {{ keys_of('a') }}a.domain, a.name, a.class, a.call_ns, a.gpu_busy_ns, a.gpu_idle_ns
    FROM api_calls AS a{{ join_processes('a') }}
    WHERE a.waits
),
summed AS (
    SELECT
        {{ keys }}domain, name, class,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(call_ns) AS BIGINT) AS blocked_ns,
        {{ sums('gpu_busy_ns, gpu_idle_ns') }},
        MEDIAN(CAST(call_ns AS DOUBLE)) AS median_ns,
        MAX(call_ns) AS max_ns
    FROM calls
    GROUP BY {{ keys }}domain, name, class
),
labelled AS (
    SELECT
        {{ keys }}{{ texts('domain, name, class') }},
        calls, blocked_ns, gpu_busy_ns, gpu_idle_ns, median_ns, max_ns
        {{- place_by('-blocked_ns, CAST(domain AS VARCHAR), CAST(name AS VARCHAR)') }}
    FROM summed
)
SELECT
    {{ keys }}domain,
    name,
    class,
    calls,
    blocked_ns,
    gpu_busy_ns,
    gpu_idle_ns,
    {{ percent('gpu_idle_ns', 'blocked_ns') }} AS gpu_idle_pct,
    CAST(blocked_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    median_ns,
    max_ns
FROM labelled
{{ top_by('blocked_ns DESC, domain, name') }}
