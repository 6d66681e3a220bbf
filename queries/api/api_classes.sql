-- title: API classes
-- about: API time by purpose, and whether the GPUs of the process were busy at the same time. Nested calls count in both totals; `self_ns` counts no thread time twice.
-- kind: summary
-- plot: ranked label=class value=self_ns role=neutral
-- needs: api_calls processes
-- by:
-- dimensions: rank, process, node, hostname, tid
-- column: domain name -- hip, hsa, rccl and so on
-- column: class name -- launch, synchronise, copy, blocking_copy, allocate and so on, by share/api_classes.toml
-- column: calls count -- calls
-- column: total_ns ns -- sum of the durations
-- column: self_ns ns -- the same without the time that calls inside them on the same thread cover
-- column: mean_ns ns -- mean duration
-- column: max_ns ns -- longest call
-- column: gpu_busy_ns ns -- part of total_ns in which a GPU of the process ran a kernel or copy
-- column: gpu_idle_ns ns -- the rest
-- column: gpu_idle_pct pct -- share of it
-- column: self_pct pct -- share of the self time of the group
WITH calls AS (
    SELECT
        {{ keys_of('a') }}a.domain, a.class, a.call_ns, a.self_ns, a.gpu_busy_ns, a.gpu_idle_ns
    FROM api_calls AS a{{ join_processes('a') }}
),
summed AS (
    SELECT
        {{ keys }}domain, class,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(call_ns) AS BIGINT) AS total_ns,
        CAST(SUM(self_ns) AS BIGINT) AS self_ns,
        MAX(call_ns) AS max_ns,
        {{ sums('gpu_busy_ns, gpu_idle_ns') }}
    FROM calls
    GROUP BY {{ keys }}domain, class
),
labelled AS (
    SELECT
        {{ keys }}{{ texts('domain, class') }},
        calls, total_ns, self_ns, max_ns, gpu_busy_ns, gpu_idle_ns,
        CAST(SUM(self_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns
    FROM summed
)
SELECT
    {{ keys }}domain,
    class,
    calls,
    total_ns,
    self_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    max_ns,
    gpu_busy_ns,
    gpu_idle_ns,
    {{ percent('gpu_idle_ns', 'total_ns') }} AS gpu_idle_pct,
    {{ percent('self_ns', 'group_ns') }} AS self_pct
FROM labelled
{{ order_by('self_ns DESC, domain, class') }}
