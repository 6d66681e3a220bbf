SELECT CAST(COUNT(*) AS BIGINT) AS recorded FROM recorded_metrics
