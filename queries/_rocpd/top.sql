-- Kernels, copies and calls by their time in microseconds; nested calls count twice, as in AMD's view.
SELECT o.name AS name, COUNT(*) AS total_calls, SUM(o.duration) / 1000.0 AS total_duration, AVG(o.duration) / 1000.0 AS average,
    SUM(o.duration) * 100.0 / SUM(SUM(o.duration)) OVER () AS percentage
FROM (
    SELECT CAST(kernel_name AS VARCHAR) AS name, end_ns - start_ns AS duration FROM kernels
    UNION ALL
    SELECT {copy_name} AS name,
        c.end_ns - c.start_ns AS duration
    FROM memory_copies AS c
    UNION ALL
    SELECT CAST(name AS VARCHAR) AS name, end_ns - start_ns AS duration FROM regions
) AS o
GROUP BY o.name
ORDER BY total_duration DESC, name
