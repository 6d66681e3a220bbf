-- title: What if a kernel were free
-- about: How much earlier the GPU work of each process would end if a kernel took no time. Where it is on the critical path another path may take over, so that less is saved than its time there. What bound a start or a return keeps its delay, another cause that takes over has none, so that a delay too much may be saved; the host takes as long as before between calls and in calls that do not wait. Savings of several kernels do not add up.
-- kind: summary
-- needs: kernel_savings processes
-- by:
-- dimensions: rank, process, node, hostname
-- param: top int = 0 -- first N kernels of each group, 0 = all
-- column: rank id -- rank
-- column: process id -- process
-- column: kernel_name name -- full name of the kernel
-- column: calls count -- dispatches
-- column: total_ns ns -- sum of their durations
-- column: at_most_ns ns -- part of it on the critical path, the upper bound of what can be saved
-- column: saved_ns ns -- how much earlier the work would end; null beyond the 16 kernels of a process with most time on the path
-- column: saved_pct pct -- share of the span of the process
-- column: speedup_at_most number -- span over what would be left of it; with the upper bound where saved_ns is null
{%- set details = ['rank', 'process', 'kernel_name', 'calls', 'total_ns', 'at_most_ns', 'saved_ns', 'saved_pct', 'speedup_at_most'] %}
WITH kernels_of AS (
    SELECT
        {{ keys_of('p', details) }}k.rank, k.process,
        CAST(k.kernel_name AS VARCHAR) AS kernel_name,
        k.dispatches AS calls,
        k.kernel_ns AS total_ns,
        k.path_ns AS at_most_ns,
        k.saved_ns,
        {{ percent('k.saved_ns', 'k.span_ns') }} AS saved_pct,
        CAST(k.span_ns AS DOUBLE) / NULLIF(CAST(k.span_ns - COALESCE(k.saved_ns, k.path_ns) AS DOUBLE), CAST(0 AS DOUBLE)) AS speedup_at_most,
        COALESCE(k.saved_ns, k.path_ns) AS likely_ns,
        0 - k.kernel_ns AS minus_total_ns
    FROM kernel_savings AS k
    JOIN processes AS p ON p.process = k.process
    WHERE p.role = 'trace'
),
placed AS (
    SELECT
        {{ keys_but(details) }}{{ details | join(', ') }}, likely_ns,
        ROW_NUMBER() OVER (
            {{ per_group }} ORDER BY {{ nulls_last('-likely_ns, minus_total_ns, process, kernel_name') }}
        ) AS place
    FROM kernels_of
)
SELECT
    {{ keys }}{{ details | reject('in', by) | join(', ') }}
FROM placed{{ where_place() }}
{{ order_by('likely_ns DESC, total_ns DESC, process, kernel_name') }}
