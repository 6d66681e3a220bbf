-- title: Idle time by cause
-- about: GPU idle time by host activity before the next launch. Inside the span of the process, all causes but `copy_only` add up to the idle time of `time_breakdown`; it includes `paused`, which is not idle time here.
-- kind: summary
-- plot: stacked_by label=by part=cause value=idle_ns
-- needs: idle_gaps processes
-- by: rank, gpu
-- dimensions: rank, gpu, process, device, node, hostname, tid, api_name, range, kernel_before, kernel_after, next_kind
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: cause name -- host_bound, sync, launch_delay or no_record; and what is no idleness: paused, copy_only, lead, tail
-- column: stretches count -- idle intervals with this cause
-- column: total_ns ns -- sum of their lengths
-- column: idle_ns ns -- the same where it is idle time, else 0
-- column: mean_ns ns -- mean length
-- column: max_ns ns -- the longest
-- column: idle_pct pct -- share of the idle time of the group
{%- set gap_keys = keys_but(['node', 'hostname', 'process']) %}
WITH per_process AS (
    SELECT
        process, {{ gap_keys }}cause,
        CAST(COUNT(*) AS BIGINT) AS stretches,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        MAX(duration_ns) AS max_ns
    FROM idle_gaps
    GROUP BY process, {{ gap_keys }}cause
),
summed AS (
    SELECT
        {{ keys_of('g') }}g.cause,
        CAST(SUM(g.stretches) AS BIGINT) AS stretches,
        CAST(SUM(g.total_ns) AS BIGINT) AS total_ns,
        MAX(g.max_ns) AS max_ns
    FROM per_process AS g
    JOIN processes AS p ON p.process = g.process
    WHERE p.role = 'trace'
    GROUP BY {{ keys_of('g') }}g.cause
),
labelled AS (
    SELECT
        {{ keys }}CAST(cause AS VARCHAR) AS cause,
        stretches, total_ns,
        CASE WHEN cause IN ('paused', 'copy_only', 'lead', 'tail') THEN 0 ELSE total_ns END AS idle_ns,
        max_ns
    FROM summed
),
shared AS (
    SELECT
        {{ keys }}cause, stretches, total_ns, idle_ns, max_ns,
        CAST(SUM(idle_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns
    FROM labelled
)
SELECT
    {{ keys }}cause,
    stretches,
    total_ns,
    idle_ns,
    CAST(total_ns AS DOUBLE) / CAST(stretches AS DOUBLE) AS mean_ns,
    max_ns,
    {{ percent('idle_ns', 'group_ns') }} AS idle_pct
FROM shared
{{ order_by('idle_ns DESC, total_ns DESC, cause') }}
