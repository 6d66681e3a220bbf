-- title: Kernel warm-up
-- about: First dispatch of every kernel on each GPU of a process, compared with the median of its later dispatches of the same launch shape and recorded inputs, most time lost first. The first dispatch of a collective counts without the wait for other GPUs. First dispatches whose shape never repeats, or whose inputs are not recorded where those of others are, have no comparison.
-- kind: summary
-- needs: dispatch_groups collective_kernels kernel_symbols processes
-- by: rank, gpu
-- dimensions: rank, gpu, process, device, node, hostname, category
-- param: min_ratio float = 2 [1, 1000000] -- how many times the median a slow first call takes at least
-- param: min_excess_us float = 10 [0, 1000000000] -- and by how much it exceeds it at least
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
{%- set judged -%}
{{ keys }}kernel_name, calls, comparable, first_ns, rest_median_ns, excess_ns, slow_first_calls, first_dispatch_id
{%- endset %}
WITH {{ collective_waits() }},
groups_of_work AS (
    SELECT
        {{ keys_of('g', ['process', 'gpu']) }}g.process, g.gpu,
        {{ kernel_text('g') }},
        g.first_dispatch_id, g.first_start_ns, g.calls,
        g.first_ns - CAST(COALESCE(w.wait_ns, CAST(0 AS DOUBLE)) AS BIGINT) AS first_ns,
        g.rest_median_ns
    FROM dispatch_groups AS g
    LEFT JOIN waits AS w ON w.process = g.process AND w.dispatch_id = g.first_dispatch_id
    {{- join_symbols('g') }}{{ join_processes('g') }}
),
ordered AS (
    SELECT
        {{ keys_and(['process', 'gpu']) }}kernel_name, first_dispatch_id, calls, first_ns, rest_median_ns,
        ROW_NUMBER() OVER (
            PARTITION BY process, gpu, kernel_name
            ORDER BY first_start_ns NULLS LAST, first_dispatch_id NULLS LAST
        ) AS place
    FROM groups_of_work
),
rated AS (
    SELECT
        {{ keys }}kernel_name, first_dispatch_id, calls, place,
        CASE WHEN place = 1 AND rest_median_ns IS NOT NULL THEN calls - 1 ELSE 0 END AS comparable,
        CASE WHEN place = 1 THEN first_ns END AS first_ns,
        CASE WHEN place = 1 THEN rest_median_ns END AS rest_median_ns,
        CASE
            WHEN place = 1 AND calls > 3
                AND CAST(first_ns AS DOUBLE) >= CAST({{ min_ratio }} AS DOUBLE) * rest_median_ns
                AND CAST(first_ns AS DOUBLE) - rest_median_ns >= CAST({{ min_excess_us }} AS DOUBLE) * CAST(1000 AS DOUBLE)
            THEN 1 ELSE 0
        END AS slow
    FROM ordered
),
summed AS (
    SELECT
        {{ keys }}kernel_name,
        {{ sums('calls, comparable') }},
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
        {{ judged }},
        CASE
            WHEN slow_first_calls > 0 THEN 'slow first call'
            WHEN most_comparable < 3 THEN 'too few calls'
            ELSE 'steady'
        END AS verdict,
        -excess_ns AS less_excess,
        -first_ns AS less_first
    FROM summed
){{ ranked_step('judged', judged ~ ', verdict, less_excess, less_first', 'less_excess, less_first, kernel_name') }}
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
{{ top_by('less_excess, less_first, kernel_name') }}
