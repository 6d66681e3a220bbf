-- title: Critical path summary
-- about: What the critical path of each process consists of. Work that is not on it could take longer for a while without moving the end; of work that is on it most is worth an improvement, `what_if_free` tells how much at most. With a filter, shares are of the parts of the path that it leaves.
-- kind: summary
-- plot: ranked label=name value=path_ns role=neutral
-- needs: critical_path kernels memory_copies kernel_symbols processes
-- by: rank
-- dimensions: rank, process, node, hostname
-- param: top int = 0 -- first N rows of each group, 0 = all
-- column: rank id -- rank
-- column: kind name -- kernel, copy, api, host (outside of calls), launch_latency, queue_wait, sync_wakeup or unknown
-- column: name name -- kernel in the name form that was asked for, direction of a copy, or function; of waits what waited
-- column: parts count -- parts of the path
-- column: path_ns ns -- sum of their lengths
-- column: path_pct pct -- share of the path of the group, which is as long as its span
-- column: mean_ns ns -- mean length of a part
-- column: max_ns ns -- the longest
-- column: total_ns ns -- all time of the kernel, or of copies of that direction; null for other kinds
-- column: critical_pct pct -- share of that on the path
{%- set forms = ['short', 'base', 'mangled'] %}
WITH parts AS (
    SELECT
        {{ keys_of('c') }}CAST(c.kind AS VARCHAR) AS kind,
        {{ name_or_symbol('c.name') }},
        c.duration_ns
    FROM critical_path AS c
    JOIN processes AS p ON p.process = c.process{{ join_symbols('c', forms=forms) }}
    WHERE p.role = 'trace'
),
work AS (
    SELECT
        {{ keys_of('k') }}'kernel' AS kind,
        {{ name_or_symbol('k.kernel_name') }},
        k.duration_ns
    FROM kernels AS k
    JOIN processes AS p ON p.process = k.process{{ join_symbols('k', forms=forms) }}
    WHERE k.valid AND p.role = 'trace'
    UNION ALL
    SELECT
        {{ keys_of('m') }}'copy' AS kind,
        CAST(m.direction AS VARCHAR) AS name,
        m.duration_ns
    FROM memory_copies AS m
    JOIN processes AS p ON p.process = m.process
    WHERE m.valid AND p.role = 'trace'
),
-- Rows of the path and of all work side by side, so that groups without a name meet too.
both_sides AS (
    SELECT {{ keys }}kind, name, 1 AS parts, duration_ns AS path_ns, 0 AS total_ns
    FROM parts
    UNION ALL
    SELECT {{ keys }}kind, name, 0 AS parts, 0 AS path_ns, duration_ns AS total_ns
    FROM work
),
summed AS (
    SELECT
        {{ keys }}kind, name,
        {{ sums('parts, path_ns') }},
        MAX(path_ns) AS max_ns,
        CAST(SUM(total_ns) AS BIGINT) AS total_ns,
        CAST(SUM(0 - total_ns) AS BIGINT) AS minus_total_ns
    FROM both_sides
    GROUP BY {{ keys }}kind, name
),
shared AS (
    SELECT
        {{ keys }}kind, name, parts, path_ns, max_ns, total_ns,
        CAST(SUM(path_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns,
        ROW_NUMBER() OVER (
            {{ per_group }} ORDER BY {{ nulls_last('-path_ns, minus_total_ns, kind, name') }}
        ) AS place
    FROM summed
)
SELECT
    {{ keys }}kind,
    name,
    parts,
    path_ns,
    {{ percent('path_ns', 'group_ns') }} AS path_pct,
    {{ ratio('path_ns', 'parts') }} AS mean_ns,
    CASE WHEN parts > 0 THEN max_ns END AS max_ns,
    CASE WHEN kind IN ('kernel', 'copy') THEN total_ns END AS total_ns,
    CASE WHEN kind IN ('kernel', 'copy') THEN {{ percent('path_ns', 'total_ns') }} END AS critical_pct
FROM shared{{ where_place() }}
{{ order_by('path_ns DESC, total_ns DESC, kind, name') }}
