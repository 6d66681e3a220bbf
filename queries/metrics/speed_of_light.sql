-- title: Speed of light
-- about: How near the GPU comes to what it can do: rates and utilisations from counters against the highest values that the hardware allows. Over all kernels unless they are grouped.
-- kind: summary
-- plot: bars label=metric value=pct_of_peak
-- needs: metric_sums kernel_symbols processes
-- by:
-- dimensions: kernel_name, category, rank, gpu, process, device, node, hostname
-- param: agg word = ratio [ratio, mean] -- ratio of the sums over the dispatches, or the mean of the values of dispatches as AMD's tools print it
-- column: metric text -- what is measured
-- column: value number -- value
-- column: unit text -- its unit
-- column: peak number -- highest value that the hardware allows, null where GPUs differ, of the device of the trace
-- column: pct_of_peak pct -- share of value in peak
-- column: dispatches count -- dispatches that have the counters of the metric
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
        m.ordinal,
        CAST(m.title AS VARCHAR) AS metric,
        CAST(m.unit AS VARCHAR) AS unit,
        m.dispatches,
        m.numerator,
        m.denominator,
        m.valued_dispatches,
        m.value_sum,
        m.peak
    FROM metric_sums AS m
    {%- if 'kernel_name' in by and name in ['base', 'mangled'] %}
    LEFT JOIN kernel_symbols AS s ON s.process = m.process AND s.kernel_id = m.kernel_id
    {%- endif %}
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = m.process
    {%- endif %}
    WHERE m.panel = 200
),
summed AS (
    SELECT
        {{ keys }}ordinal, metric, unit,
        {%- if agg == 'mean' %}
        SUM(value_sum) / NULLIF(CAST(SUM(valued_dispatches) AS DOUBLE), CAST(0 AS DOUBLE)) AS value,
        {%- else %}
        SUM(numerator) / NULLIF(SUM(denominator), CAST(0 AS DOUBLE)) AS value,
        {%- endif %}
        CASE WHEN MIN(peak) = MAX(peak) THEN MAX(peak) END AS peak,
        CAST(SUM(dispatches) AS BIGINT) AS dispatches
    FROM chosen
    GROUP BY {{ keys }}ordinal, metric, unit
),
labelled AS (
    SELECT
        {%- for column in by %}
        {{ 'CAST(kernel_name AS VARCHAR) AS kernel_name' if column == 'kernel_name' else column }},
        {%- endfor %}
        ordinal, metric, value, unit, peak, dispatches
    FROM summed
)
SELECT
    {{ keys }}metric,
    value,
    unit,
    peak,
    CAST(100 AS DOUBLE) * value / NULLIF(peak, CAST(0 AS DOUBLE)) AS pct_of_peak,
    dispatches
FROM labelled
WHERE value IS NOT NULL
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    ordinal NULLS LAST
