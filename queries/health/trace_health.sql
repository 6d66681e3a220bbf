-- title: Trace health
-- about: Errors and suspicious values of the trace: every anomaly, counted over the processes, with an example; and metrics without a value because their counters cannot be right, counted by kernel and GPU.
-- kind: health
-- needs: anomalies metric_sums
-- by:
-- dimensions: rank, process
-- param: missing word = show [show, hide, only] -- rows of `not_recorded`: next to the anomalies, left out, or alone and without these words
-- column: check_id id -- the check
-- column: severity name -- error, warning or info
-- column: table_name name -- table the rows are in
-- column: count count -- rows concerned
-- column: first_key id -- key of the first of them, in the lowest process that has any
-- column: detail text -- what it means, from the same process
WITH keyed AS (
    SELECT
        *,
        -- Keys that are numbers stand in the order of numbers: by their digits, then as texts.
        CAST(CASE WHEN LTRIM(first_key, '0123456789') = '' THEN LENGTH(first_key) ELSE 0 END AS BIGINT) AS digits
    FROM anomalies
{%- if missing != 'show' %}
    WHERE check_id {{ '=' if missing == 'only' else '<>' }} 'not_recorded'
{%- endif %}
),
numbered AS (
    SELECT
        {{ keys }}{{ texts('check_id, severity') }},
        CAST(CASE WHEN severity = 'error' THEN 0 WHEN severity = 'warning' THEN 1 WHEN severity = 'info' THEN 2 ELSE 3 END AS BIGINT) AS severity_order,
        CAST(table_name AS VARCHAR) AS table_name,
        first_key, detail,
        SUM("count") OVER (PARTITION BY {{ keys }}check_id, severity, table_name) AS total,
        ROW_NUMBER() OVER (
            PARTITION BY {{ keys }}check_id, severity, table_name
            ORDER BY
                process NULLS LAST,
                CAST(CASE WHEN first_key IS NULL THEN 1 ELSE 0 END AS BIGINT) NULLS LAST,
                digits NULLS LAST,
                first_key NULLS LAST,
                detail NULLS LAST
        ) AS place
    FROM keyed
),
doubtful AS (
    SELECT
        {{ keys }}{{ texts('metric, reason') }}
    FROM metric_sums
    WHERE per_ordinal = 0{{ ' AND 1 = 0' if missing == 'only' else '' }}
),
implausible AS (
    SELECT
        {{ keys }}reason,
        MIN(metric) AS first_metric,
        CAST(COUNT(*) AS BIGINT) AS total
    FROM doubtful
    WHERE reason LIKE 'implausible: %'
    GROUP BY {{ keys }}reason
),
rows_of_checks AS (
    SELECT
        {{ keys }}check_id, severity, severity_order, table_name,
        CAST(total AS BIGINT) AS "count",
        first_key, detail
    FROM numbered
    WHERE place = 1
    UNION ALL
    SELECT
        {{ keys }}CAST('implausible_counters' AS VARCHAR) AS check_id,
        CAST('warning' AS VARCHAR) AS severity,
        CAST(1 AS BIGINT) AS severity_order,
        CAST('counters' AS VARCHAR) AS table_name,
        total AS "count",
        first_metric AS first_key,
        CONCAT('metrics have no value: ', SUBSTR(reason, 14)) AS detail
    FROM implausible
)
SELECT
    {{ keys }}check_id,
    severity,
    table_name,
    "count",
    first_key,
    {{ "SUBSTR(detail, 15) AS detail" if missing == 'only' else 'detail' }}
FROM rows_of_checks
{{ order_by('severity_order, severity, check_id, table_name, detail') }}
