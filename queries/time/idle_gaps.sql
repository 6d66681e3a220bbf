-- title: Idle gaps
-- about: Idle gaps of each GPU inside the span of its process, longest first, with the kernels before and after, the host activity, and the main cause.
-- kind: trace
-- needs: idle_gaps kernel_symbols processes
-- local: longest
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, tid, cause, next_kind
-- param: top int = 50 -- longest N gaps of each group, 0 = all
-- column: rank id -- rank
-- column: process id -- process
-- column: gpu id -- GPU of the process
-- column: gap_id id -- number of the gap on its GPU
-- column: start_ns ns -- start, in the clock of the trace
-- column: duration_ns ns -- length
-- column: cause name -- cause of most of it: host_bound, sync, launch_delay, no_record or paused
-- column: cause_pct pct -- share of the length with that cause
-- column: host_bound_ns ns -- part before the call that launches the next work returned, while the thread did not wait
-- column: sync_ns ns -- part in which that thread was inside a call that waits
-- column: launch_delay_ns ns -- part after the launch
-- column: next_kind name -- what ends it: kernel or copy
-- column: kernel_before name -- kernel that ended last before it
-- column: kernel_after name -- first kernel after it
-- column: tid id -- thread that launches what comes next
-- column: api_name name -- call of that thread with the largest overlap, in the longest part with the main cause
-- column: api_pct pct -- share of that part inside of that call; the rest of it the thread was elsewhere
-- column: range name -- ROCTx range of that thread that is the innermost for most of that part
{%- set details = ['rank', 'process', 'gpu', 'gap_id', 'start_ns', 'duration_ns', 'cause', 'cause_pct', 'host_bound_ns', 'sync_ns', 'launch_delay_ns', 'next_kind', 'kernel_before', 'kernel_after', 'tid', 'api_name', 'api_pct', 'range'] %}
{%- set facts = ['next_kind', 'kernel_before', 'kernel_after', 'tid', 'api_name', 'range'] %}
{%- set key = 'process, gpu, gap_id' %}
{#- One number per gap, which is quicker to group and join by than three: 2^31 gaps of 2^12 GPUs of 2^20 processes. -#}
{%- set number = 'process * 8796093022208 + gpu * 2147483648 + gap_id' %}
{%- set has_cause = "cause <> 'copy_only' AND cause <> 'lead' AND cause <> 'tail'" %}
{%- set is_cut = top > 0 and not by %}
WITH {% if is_cut -%}
lengths_of_parts AS (
    SELECT {{ number }} AS gap, process, duration_ns
    FROM idle_gaps
    WHERE {{ has_cause }}
),
lengths_of_gaps AS (
    SELECT n.gap, CAST(SUM(n.duration_ns) AS BIGINT) AS length_ns
    FROM lengths_of_parts AS n
    JOIN processes AS p ON p.process = n.process
    WHERE p.role = 'trace'
    GROUP BY n.gap
),
greatest_lengths AS (
    SELECT length_ns
    FROM lengths_of_gaps
    ORDER BY length_ns DESC NULLS LAST
    LIMIT {{ top }}
),
bounds AS (
    SELECT length_ns
    FROM greatest_lengths
    GROUP BY length_ns
),
-- And all that are as long as the last of them.
among_longest AS (
    SELECT n.gap
    FROM lengths_of_gaps AS n
    JOIN bounds AS b ON b.length_ns = n.length_ns
),
{% endif -%}
numbered AS (
    SELECT
        {{ number }} AS gap,
        process, rank, gpu, device, gap_id, start_ns, duration_ns, cause, api_ns,
        {{ facts | join(', ') }}
    FROM idle_gaps
),
{%- if is_cut %}
-- Among the longest of all are no others than the longest of some processes. These are few: what has no such cause goes later.
longest AS (
    SELECT
        n.gap, n.process, n.rank, n.gpu, n.device, n.gap_id, n.start_ns, n.duration_ns, n.cause, n.api_ns,
        n.{{ facts | join(', n.') }}
    FROM numbered AS n
    JOIN among_longest AS s ON s.gap = n.gap
),
lengths AS (
    SELECT gap, CAST(SUM(duration_ns) AS BIGINT) AS length_ns
    FROM longest
    WHERE {{ has_cause }}
    GROUP BY gap
),
-- Numbers rise with process, GPU and start: these are the gaps of the answer.
chosen AS (
    SELECT gap
    FROM lengths
    ORDER BY length_ns DESC NULLS LAST, gap NULLS LAST
    LIMIT {{ top }}
),
{%- endif %}
parts AS (
    SELECT
        g.process, g.rank, g.gpu, g.device, g.gap_id, g.start_ns, g.duration_ns, g.cause, g.api_ns,
        g.{{ facts | join(', g.') }},
        p.node, p.hostname
    FROM {{ 'longest' if is_cut else 'numbered' }} AS g
    {{- ' JOIN chosen AS c ON c.gap = g.gap' if is_cut }}
    JOIN processes AS p ON p.process = g.process
    WHERE p.role = 'trace' AND {{ has_cause }}
),
by_cause AS (
    SELECT
        {{ key }}, cause,
        CAST(SUM(duration_ns) AS BIGINT) AS cause_ns,
        MIN(start_ns) AS first_ns
    FROM parts
    GROUP BY {{ key }}, cause
),
summed AS (
    SELECT
        {{ key }},
        MIN(first_ns) AS start_ns,
        CAST(SUM(cause_ns) AS BIGINT) AS duration_ns,
        MAX(cause_ns) AS most_ns,
        {{ sum_if("cause = 'host_bound'", 'cause_ns') }} AS host_bound_ns,
        {{ sum_if("cause = 'sync'", 'cause_ns') }} AS sync_ns,
        {{ sum_if("cause = 'launch_delay'", 'cause_ns') }} AS launch_delay_ns
    FROM by_cause
    GROUP BY {{ key }}
),
main_cause AS (
    SELECT c.process, c.gpu, c.gap_id, MIN(CAST(c.cause AS VARCHAR)) AS cause
    FROM by_cause AS c
    JOIN summed AS s ON s.process = c.process AND s.gpu = c.gpu AND s.gap_id = c.gap_id
    WHERE c.cause_ns = s.most_ns
    GROUP BY c.process, c.gpu, c.gap_id
),
main_part AS (
    SELECT
        a.process, a.gpu, a.gap_id, a.rank, a.device, a.node, a.hostname, m.cause,
        -- A window cuts parts and leaves overlaps as they are.
        CASE WHEN a.api_ns > a.duration_ns THEN a.duration_ns ELSE a.api_ns END AS api_ns,
        a.duration_ns AS part_ns,
        {%- for column in facts %}
        {{ texts(column, 'a') if column in ['next_kind', 'api_name'] else 'a.' ~ column }},
        {%- endfor %}
        ROW_NUMBER() OVER (
            PARTITION BY a.process, a.gpu, a.gap_id
            ORDER BY -a.duration_ns NULLS LAST, a.start_ns NULLS LAST
        ) AS place
    FROM parts AS a
    JOIN main_cause AS m ON m.process = a.process AND m.gpu = a.gpu AND m.gap_id = a.gap_id
    WHERE CAST(a.cause AS VARCHAR) = m.cause
),
gaps AS (
    SELECT
        a.device, a.node, a.hostname, a.rank, s.process, s.gpu, s.gap_id, s.start_ns, s.duration_ns, a.cause,
        CAST(100 AS DOUBLE) * CAST(s.most_ns AS DOUBLE) / CAST(s.duration_ns AS DOUBLE) AS cause_pct,
        s.host_bound_ns, s.sync_ns, s.launch_delay_ns,
        CAST(100 AS DOUBLE) * CAST(a.api_ns AS DOUBLE) / CAST(a.part_ns AS DOUBLE) AS api_pct,
        a.{{ facts | join(', a.') }}
    FROM summed AS s
    JOIN main_part AS a ON a.process = s.process AND a.gpu = s.gpu AND a.gap_id = s.gap_id
    WHERE a.place = 1
),
{%- if name != 'full' %}
-- Kernels of the same full name have the same other names.
forms AS (
    SELECT
        process, kernel_name,
        MIN(CAST({{ symbol_column }} AS VARCHAR)) AS form
    FROM kernel_symbols
    GROUP BY process, kernel_name
),
{%- endif %}
ranked AS (
    SELECT
        {{ keys_in('g', details) }}
        {%- for column in details %}
        {%- if column in ['kernel_before', 'kernel_after'] and name != 'full' %}
        COALESCE({{ 'b' if column == 'kernel_before' else 'n' }}.form, CAST(g.{{ column }} AS VARCHAR)) AS {{ column }},
        {%- else %}
        g.{{ column }},
        {%- endif %}
        {%- endfor %}
        ROW_NUMBER() OVER (
            {{ 'PARTITION BY g.' ~ by | join(', g.') if by }}
            ORDER BY {{ nulls_last('-g.duration_ns, g.process, g.gpu, g.start_ns') }}
        ) AS place
    FROM gaps AS g
    {%- if name != 'full' %}
    LEFT JOIN forms AS b ON b.process = g.process AND b.kernel_name = g.kernel_before
    LEFT JOIN forms AS n ON n.process = g.process AND n.kernel_name = g.kernel_after
    {%- endif %}
)
SELECT
    {{ keys }}{{ details | reject('in', by) | join(', ') }}
FROM ranked{{ where_place() }}
{{ order_by('duration_ns DESC, process, gpu, start_ns') }}
