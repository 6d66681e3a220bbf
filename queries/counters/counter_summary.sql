-- title: Counter summary
-- about: Hardware counters over the dispatches that were counted, each with the sum over its instances as its value.
-- kind: summary
-- needs: counters counter_dispatches kernel_symbols processes
-- by:
-- dimensions: kernel_name, category, rank, gpu, process, device, node, hostname, pass, queue_id, stream_id, agent_id
-- param: top int = 0 -- first N rows of each group, 0 = all
-- column: counter name -- counter
-- column: dispatches count -- dispatches with a value
-- column: total number -- sum of the values
-- column: mean number -- mean value
-- column: median number -- median value
-- column: std number -- sample standard deviation, null for a single dispatch
-- column: min number -- least value
-- column: max number -- greatest value
{%- set of_counters = ['rank', 'process', 'pass'] %}
{%- set of_dispatches = by | reject('in', ['rank', 'process', 'pass', 'node', 'hostname']) | list %}
WITH counted AS (
    SELECT
        {%- for column in by if column != 'kernel_name' %}
        {{ 'c.' if column in of_counters else 'p.' if column in ['node', 'hostname'] else 'k.' }}{{ column }},
        {%- endfor %}
        {{ (kernel_name('k') ~ ', ') if 'kernel_name' in by }}
        c.counter, c.value
    FROM counters AS c
    {%- if of_dispatches %}
    LEFT JOIN counter_dispatches AS k ON k.process = c.process AND k.pass = c.pass AND k.dispatch_id = c.dispatch_id
    {%- endif %}{{ join_symbols('k', 'kernel_name' in by) }}{{ join_processes('c') }}
),
summed AS (
    SELECT
        {{ keys }}counter,
        CAST(COUNT(*) AS BIGINT) AS dispatches,
        SUM(value) AS total,
        AVG(value) AS mean,
        MEDIAN(value) AS median,
        STDDEV(value) AS std,
        MIN(value) AS least,
        MAX(value) AS greatest
    FROM counted
    GROUP BY {{ keys }}counter
),
labelled AS (
    SELECT
        {{ keys_as_text(['kernel_name']) }}CAST(counter AS VARCHAR) AS counter,
        dispatches, total, mean, median, std, least, greatest
    FROM summed
),
placed AS (
    SELECT
        {{ keys }}counter, dispatches, total, mean, median, std, least, greatest
        {{- place_by('counter') }}
    FROM labelled
)
SELECT
    {{ keys }}counter,
    dispatches,
    total,
    mean,
    median,
    std,
    least AS "min",
    greatest AS "max"
FROM placed
{{ top_by('counter') }}
