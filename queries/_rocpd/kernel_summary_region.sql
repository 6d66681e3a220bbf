-- Calls and times of kernels by the range that named them, as `rocpd summary` prints them.
SELECT COALESCE(k.region_name, '') AS "Name", COUNT(*) AS "Calls", SUM(k.end_ns - k.start_ns) AS "DURATION (nsec)", AVG(k.end_ns - k.start_ns) AS "AVERAGE (nsec)",
    SUM(k.end_ns - k.start_ns) * 100.0 / SUM(SUM(k.end_ns - k.start_ns)) OVER () AS "PERCENT (INC)",
    MIN(k.end_ns - k.start_ns) AS "MIN (nsec)", MAX(k.end_ns - k.start_ns) AS "MAX (nsec)", STDDEV(k.end_ns - k.start_ns) AS "STD_DEV"
FROM kernels AS k
GROUP BY COALESCE(k.region_name, '')
ORDER BY "DURATION (nsec)" DESC, "Name"
