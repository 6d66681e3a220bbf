-- title: Trace health
-- about: Errors and suspicious values of the trace: every anomaly, counted over the processes, with an example.
-- kind: health
-- needs: anomalies
-- by:
-- dimensions: rank, process
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
)
SELECT
    {{ keys }}check_id,
    severity,
    table_name,
    CAST(total AS BIGINT) AS "count",
    first_key,
    detail
FROM numbered
WHERE place = 1
{{ order_by('severity_order, severity, check_id, table_name') }}
