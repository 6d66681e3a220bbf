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
{%- set keys = by | join(', ') ~ (', ' if by else '') %}
{%- set of_counters = ['rank', 'process', 'pass'] %}
{%- set of_dispatches = by | reject('in', ['rank', 'process', 'pass', 'node', 'hostname']) | list %}
WITH counted AS (
    SELECT
        {%- for column in by if column != 'kernel_name' %}
        {{ 'c.' if column in of_counters else 'p.' if column in ['node', 'hostname'] else 'k.' }}{{ column }},
        {%- endfor %}
        {%- if 'kernel_name' in by %}
        {%- if name == 'short' %}
        k.short_name AS kernel_name,
        {%- elif name == 'base' %}
        COALESCE(CAST(s.base_name AS VARCHAR), CAST(k.short_name AS VARCHAR)) AS kernel_name,
        {%- elif name == 'mangled' %}
        COALESCE(CAST(s.mangled_name AS VARCHAR), CAST(k.kernel_name AS VARCHAR)) AS kernel_name,
        {%- else %}
        k.kernel_name,
        {%- endif %}
        {%- endif %}
        c.counter,
        c.value
    FROM counters AS c
    {%- if of_dispatches %}
    LEFT JOIN counter_dispatches AS k ON k.process = c.process AND k.pass = c.pass AND k.dispatch_id = c.dispatch_id
    {%- endif %}
    {%- if 'kernel_name' in by and name in ['base', 'mangled'] %}
    LEFT JOIN kernel_symbols AS s ON s.process = k.process AND s.kernel_id = k.kernel_id
    {%- endif %}
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = c.process
    {%- endif %}
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
        {%- for column in by %}
        {{ 'CAST(kernel_name AS VARCHAR) AS kernel_name' if column == 'kernel_name' else column }},
        {%- endfor %}
        CAST(counter AS VARCHAR) AS counter,
        dispatches,
        total,
        mean,
        median,
        std,
        least,
        greatest
    FROM summed
),
placed AS (
    SELECT
        {{ keys }}counter,
        dispatches,
        total,
        mean,
        median,
        std,
        least,
        greatest
        {%- if top > 0 and by %},
        ROW_NUMBER() OVER (
            PARTITION BY {{ by | join(', ') }}
            ORDER BY counter NULLS LAST
        ) AS place
        {%- endif %}
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
{%- if top > 0 and by %}
WHERE place <= {{ top }}
{%- endif %}
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    counter NULLS LAST
{%- if top > 0 and not by %}
LIMIT {{ top }}
{%- endif %}
