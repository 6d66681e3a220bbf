-- Calls and times of each name, the most expensive first.
SELECT name AS "Name", COUNT(*) AS "Calls", SUM(duration_ns) AS "TotalDurationNs", AVG(duration_ns) AS "AverageNs",
    100.0 * SUM(duration_ns) / NULLIF(SUM(SUM(duration_ns)) OVER (), 0) AS "Percentage", MIN(duration_ns) AS "MinNs",
    MAX(duration_ns) AS "MaxNs", COALESCE(STDDEV(duration_ns), 0.0) AS "StdDev"
FROM ({rows}) AS r
GROUP BY name
ORDER BY "TotalDurationNs" DESC, "Name"
