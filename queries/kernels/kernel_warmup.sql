-- title: First calls
-- about: The first dispatch of every kernel on each GPU of a process, against the median of its later dispatches with the same launch shape. Most time lost first. The first of a collective counts without the wait for its other GPUs. A first call whose shape never comes again has nothing to be compared with.
-- kind: summary
-- needs: dispatch_groups collective_kernels kernel_symbols processes
-- by: rank, gpu
-- dimensions: rank, gpu, process, device, node, hostname, category
-- param: least_ratio float = 2 [1, 1000000] -- how many times the median a slow first call takes at least
-- param: least_excess_us float = 10 [0, 1000000000] -- and by how much it exceeds it at least
-- param: top int = 0 -- first N kernels of each group, 0 = all
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: calls count -- dispatches of the kernel
-- column: comparable count -- later dispatches with the shape of the first, which the median is of; with several processes or GPUs in a row, of all of them
-- column: first_ns ns -- duration of the first dispatch, of a collective without the wait; with several processes or GPUs in a row, the longest
-- column: rest_median_ns ns -- median of the later ones with the same shape
-- column: ratio number -- first_ns over rest_median_ns
-- column: excess_ns ns -- time by which slow first calls exceed the median, added up
-- column: slow_first_calls count -- first dispatches that are slow
-- column: verdict text -- slow first call, steady, or too few calls (under 3 to compare with)
-- column: first_dispatch_id id -- the first dispatch
{%- set keys = by | join(', ') ~ (', ' if by else '') %}
WITH together AS (
    SELECT collective, MIN(duration_ns) AS cost_ns
    FROM collective_kernels
    WHERE gpus > 1 AND collective IS NOT NULL
    GROUP BY collective
),
waits AS (
    SELECT k.process, k.dispatch_id, CAST(k.duration_ns - t.cost_ns AS DOUBLE) AS wait_ns
    FROM collective_kernels AS k
    JOIN together AS t ON t.collective = k.collective
),
groups_of_work AS (
    SELECT
        {%- for column in by if column not in ['process', 'gpu'] %}
        {{ 'p.' if column in ['node', 'hostname'] else 'g.' }}{{ column }},
        {%- endfor %}
        g.process,
        g.gpu,
        {%- if name == 'short' %}
        CAST(g.short_name AS VARCHAR) AS kernel_name,
        {%- elif name == 'base' %}
        COALESCE(CAST(s.base_name AS VARCHAR), CAST(g.short_name AS VARCHAR)) AS kernel_name,
        {%- elif name == 'mangled' %}
        COALESCE(CAST(s.mangled_name AS VARCHAR), CAST(g.kernel_name AS VARCHAR)) AS kernel_name,
        {%- else %}
        CAST(g.kernel_name AS VARCHAR) AS kernel_name,
        {%- endif %}
        g.first_dispatch_id,
        g.first_start_ns,
        g.calls,
        g.first_ns - CAST(COALESCE(w.wait_ns, CAST(0 AS DOUBLE)) AS BIGINT) AS first_ns,
        g.rest_median_ns
    FROM dispatch_groups AS g
    LEFT JOIN waits AS w ON w.process = g.process AND w.dispatch_id = g.first_dispatch_id
    {%- if name in ['base', 'mangled'] %}
    LEFT JOIN kernel_symbols AS s ON s.process = g.process AND s.kernel_id = g.kernel_id
    {%- endif %}
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = g.process
    {%- endif %}
),
ordered AS (
    SELECT
        {{ keys }}{{ 'process, ' if 'process' not in by }}{{ 'gpu, ' if 'gpu' not in by }}kernel_name, first_dispatch_id, calls, first_ns, rest_median_ns,
        ROW_NUMBER() OVER (
            PARTITION BY process, gpu, kernel_name
            ORDER BY first_start_ns NULLS LAST, first_dispatch_id NULLS LAST
        ) AS place
    FROM groups_of_work
),
rated AS (
    SELECT
        {{ keys }}kernel_name, first_dispatch_id, calls, place,
        CASE WHEN place = 1 THEN calls - 1 ELSE 0 END AS comparable,
        CASE WHEN place = 1 THEN first_ns END AS first_ns,
        CASE WHEN place = 1 THEN rest_median_ns END AS rest_median_ns,
        CASE
            WHEN place = 1 AND calls > 3
                AND CAST(first_ns AS DOUBLE) >= CAST({{ least_ratio }} AS DOUBLE) * rest_median_ns
                AND CAST(first_ns AS DOUBLE) - rest_median_ns >= CAST({{ least_excess_us }} AS DOUBLE) * CAST(1000 AS DOUBLE)
            THEN 1 ELSE 0
        END AS slow
    FROM ordered
),
summed AS (
    SELECT
        {{ keys }}kernel_name,
        CAST(SUM(calls) AS BIGINT) AS calls,
        CAST(SUM(comparable) AS BIGINT) AS comparable,
        CAST(MAX(comparable) AS BIGINT) AS most_comparable,
        MAX(first_ns) AS first_ns,
        MAX(rest_median_ns) AS rest_median_ns,
        SUM(CASE WHEN slow = 1 THEN CAST(first_ns AS DOUBLE) - rest_median_ns ELSE CAST(0 AS DOUBLE) END) AS excess_ns,
        CAST(SUM(slow) AS BIGINT) AS slow_first_calls,
        MIN(CASE WHEN place = 1 THEN first_dispatch_id END) AS first_dispatch_id
    FROM rated
    GROUP BY {{ keys }}kernel_name
),
judged AS (
    SELECT
        {{ keys }}kernel_name, calls, comparable, first_ns, rest_median_ns, excess_ns, slow_first_calls, first_dispatch_id,
        CASE
            WHEN slow_first_calls > 0 THEN 'slow first call'
            WHEN most_comparable < 3 THEN 'too few calls'
            ELSE 'steady'
        END AS verdict,
        -excess_ns AS less_excess,
        -first_ns AS less_first
    FROM summed
){%- if top > 0 and by %},
ranked AS (
    SELECT
        {{ keys }}kernel_name, calls, comparable, first_ns, rest_median_ns, excess_ns, slow_first_calls, first_dispatch_id, verdict, less_excess, less_first,
        ROW_NUMBER() OVER (
            PARTITION BY {{ by | join(', ') }}
            ORDER BY less_excess NULLS LAST, less_first NULLS LAST, kernel_name NULLS LAST
        ) AS place
    FROM judged
)
{%- endif %}
SELECT
    {{ keys }}kernel_name,
    calls,
    comparable,
    first_ns,
    rest_median_ns,
    CAST(first_ns AS DOUBLE) / NULLIF(rest_median_ns, CAST(0 AS DOUBLE)) AS ratio,
    excess_ns,
    slow_first_calls,
    verdict,
    first_dispatch_id
FROM {{ 'ranked' if top > 0 and by else 'judged' }}
{%- if top > 0 and by %}
WHERE place <= {{ top }}
{%- endif %}
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    less_excess NULLS LAST,
    less_first NULLS LAST,
    kernel_name NULLS LAST
{%- if top > 0 and not by %}
LIMIT {{ top }}
{%- endif %}
