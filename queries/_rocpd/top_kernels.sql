-- Kernels by their time in microseconds.
SELECT k.kernel_name AS name, COUNT(*) AS total_calls, SUM(k.end_ns - k.start_ns) / 1000.0 AS total_duration,
    AVG(k.end_ns - k.start_ns) / 1000.0 AS average,
    SUM(k.end_ns - k.start_ns) * 100.0 / (SELECT SUM(end_ns - start_ns) FROM kernels) AS percentage
FROM kernels AS k
GROUP BY k.kernel_name
ORDER BY total_duration DESC, name
