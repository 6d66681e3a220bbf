-- title: Idle time by host call
-- about: GPU idle time by cause and by the API call in which the launching thread was meanwhile. Of nested calls the outermost counts, the one that the program made. An idle gap is split exactly among the calls in it; all rows of a cause add up to that cause in `idle_by_cause`. A call is named, not blamed: during `launch_delay` the thread has launched already. With `--by thread_state` it names the state of the thread, if the trace has scheduler events.
-- kind: summary
-- needs: idle_calls processes
-- by: rank, gpu
-- dimensions: rank, gpu, process, device, node, hostname, tid, function_name, range, thread_state
-- param: short_us float = 100 [0, 1000000000] -- a gap of at most this length is short
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: cause name -- host_bound, sync, launch_delay or no_record
-- column: name name -- API call in which the launching thread was, or `no call recorded`
-- column: idle_ns ns -- idle time with this cause in which the thread was in this call
-- column: short_ns ns -- part of it in short gaps, with which HIP graphs and fusion help
-- column: longest_ns ns -- with `--by range` or `--by function_name`, length of the longest of these ranges or functions: one that is around nearly everything explains nothing
-- column: cause_pct pct -- share of the idle time of the group with that cause
-- column: idle_pct pct -- share of the idle time of the group
{%- set piece_keys = keys_but(['node', 'hostname', 'process']) %}
{%- set cause_keys = keys ~ 'cause' %}
{%- set length = 'range_ns' if 'range' in by else 'function_ns' if 'function_name' in by else 'CAST(NULL AS BIGINT)' %}
WITH per_process AS (
    SELECT
        process, {{ piece_keys }}cause, api_name,
        CAST(SUM(duration_ns) AS BIGINT) AS idle_ns,
        {{ sum_if('gap_ns <= ' ~ (short_us * 1000) | int, 'duration_ns') }} AS short_ns,
        MAX({{ length }}) AS longest_ns
    FROM idle_calls
    GROUP BY process, {{ piece_keys }}cause, api_name
),
summed AS (
    SELECT
        {{ keys_of('c') }}c.cause, c.api_name,
        CAST(SUM(c.idle_ns) AS BIGINT) AS idle_ns,
        CAST(SUM(c.short_ns) AS BIGINT) AS short_ns,
        MAX(c.longest_ns) AS longest_ns
    FROM per_process AS c
    JOIN processes AS p ON p.process = c.process
    WHERE p.role = 'trace'
    GROUP BY {{ keys_of('c') }}c.cause, c.api_name
),
labelled AS (
    SELECT
        {{ keys }}CAST(cause AS VARCHAR) AS cause,
        COALESCE(CAST(api_name AS VARCHAR), 'no call recorded') AS name,
        idle_ns, short_ns, longest_ns
    FROM summed
),
shared AS (
    SELECT
        {{ keys }}cause, name, idle_ns, short_ns, longest_ns,
        CAST(SUM(idle_ns) OVER (PARTITION BY {{ cause_keys }}) AS BIGINT) AS cause_ns,
        CAST(SUM(idle_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns
    FROM labelled
)
SELECT
    {{ keys }}cause,
    name,
    idle_ns,
    short_ns,
    longest_ns,
    {{ percent('idle_ns', 'cause_ns') }} AS cause_pct,
    {{ percent('idle_ns', 'group_ns') }} AS idle_pct
FROM shared
{{ order_by('idle_ns DESC, cause, name') }}
