-- title: Metrics of kernels
-- about: Everything that can be computed from the collected counters, kernel by kernel: what the definitions say, over all dispatches of the kernel in all counter passes of a rank. A dispatch without one of the counters does not count; what is not collected is no zero.
-- kind: summary
-- needs: metric_sums kernel_symbols processes
-- by: kernel_name
-- dimensions: kernel_name, category, rank, gpu, process, device, node, hostname
-- param: agg word = ratio [ratio, mean] -- ratio of the sums over the dispatches, or the mean of the values of dispatches as AMD's tools print it
-- param: per word = wave [wave, cycle, second, kernel] -- what counts are divided by
-- param: panel int = 0 [0, 1000000] -- number of the panel: 200 speed of light, 250 evidence of bottlenecks, 300 memory chart, 400 roofline, 500 command processor, 600 workgroup manager, 700 wavefront, 900 derived counters, 1000 instruction mix, 1100 compute pipeline, 1200 LDS, 1300 instruction cache, 1400 scalar cache, 1500 address and data, 1600 vector cache, 1700 L2; 0 = all
-- param: missing word = hide [hide, show] -- whether metrics without a value are shown, with the reason
-- column: kernel_name name -- kernel
-- column: panel number -- number of the panel
-- column: metric name -- unique name
-- column: title text -- name for people
-- column: value number -- value
-- column: unit text -- its unit
-- column: min number -- least value of a dispatch
-- column: max number -- greatest value of a dispatch
-- column: dispatches count -- dispatches that have all counters of the metric
-- column: uncounted count -- dispatches of the kernel that lack one
-- column: peak number -- highest value that the hardware allows, null where GPUs differ
-- column: pct_of_peak pct -- share of value in peak
-- column: reason text -- why there is no value, or what it lacks; with --missing show
{%- set keys = by | join(', ') ~ (', ' if by else '') %}
WITH chosen AS (
    SELECT
        {%- for column in by if column != 'kernel_name' %}
        {{ 'p.' if column in ['node', 'hostname'] else 'm.' }}{{ column }},
        {%- endfor %}
        {%- if 'kernel_name' in by %}
        {%- if name == 'short' %}
        m.short_name AS kernel_name,
        {%- elif name == 'base' %}
        COALESCE(CAST(s.base_name AS VARCHAR), CAST(m.short_name AS VARCHAR)) AS kernel_name,
        {%- elif name == 'mangled' %}
        COALESCE(CAST(s.mangled_name AS VARCHAR), CAST(m.kernel_name AS VARCHAR)) AS kernel_name,
        {%- else %}
        m.kernel_name,
        {%- endif %}
        {%- endif %}
        m.panel,
        m.ordinal,
        CAST(m.metric AS VARCHAR) AS metric,
        CAST(m.title AS VARCHAR) AS title,
        CAST(m.unit AS VARCHAR) AS unit,
        m.kernel_dispatches,
        m.dispatches,
        m.numerator,
        m.denominator,
        m.valued_dispatches,
        m.value_sum,
        m.value_min,
        m.value_max,
        m.peak,
        {%- if missing == 'show' %}
        CAST(m.reason AS VARCHAR) AS reason
        {%- else %}
        CAST(NULL AS VARCHAR) AS reason
        {%- endif %}
    FROM metric_sums AS m
    {%- if 'kernel_name' in by and name in ['base', 'mangled'] %}
    LEFT JOIN kernel_symbols AS s ON s.process = m.process AND s.kernel_id = m.kernel_id
    {%- endif %}
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = m.process
    {%- endif %}
    WHERE (m.per IS NULL OR CAST(m.per AS VARCHAR) = '{{ per }}')
    {%- if panel > 0 %}
        AND m.panel = {{ panel }}
    {%- endif %}
),
summed AS (
    SELECT
        {{ keys }}panel, ordinal, metric, title, unit,
        {%- if agg == 'mean' %}
        SUM(value_sum) / NULLIF(CAST(SUM(valued_dispatches) AS DOUBLE), CAST(0 AS DOUBLE)) AS value,
        {%- else %}
        SUM(numerator) / NULLIF(SUM(denominator), CAST(0 AS DOUBLE)) AS value,
        {%- endif %}
        MIN(value_min) AS least,
        MAX(value_max) AS greatest,
        CAST(SUM(dispatches) AS BIGINT) AS dispatches,
        CAST(SUM(kernel_dispatches - dispatches) AS BIGINT) AS uncounted,
        CASE WHEN MIN(peak) = MAX(peak) THEN MAX(peak) END AS peak,
        MIN(reason) AS reason
    FROM chosen
    GROUP BY {{ keys }}panel, ordinal, metric, title, unit
),
labelled AS (
    SELECT
        {%- for column in by %}
        {{ 'CAST(kernel_name AS VARCHAR) AS kernel_name' if column == 'kernel_name' else column }},
        {%- endfor %}
        panel, ordinal, metric, title, value, unit, least, greatest, dispatches, uncounted, peak, reason
    FROM summed
)
SELECT
    {{ keys }}panel,
    metric,
    title,
    value,
    unit,
    least AS "min",
    greatest AS "max",
    dispatches,
    uncounted,
    peak,
    CAST(100 AS DOUBLE) * value / NULLIF(peak, CAST(0 AS DOUBLE)) AS pct_of_peak,
    reason
FROM labelled
{%- if missing == 'hide' %}
WHERE value IS NOT NULL
{%- endif %}
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    ordinal NULLS LAST,
    unit NULLS LAST
