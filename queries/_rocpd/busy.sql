-- Time in which each GPU worked, which work at the same time does not count twice in, and the time from its process's first
-- kernel or copy to the last.
SELECT a.agent_id AS agent_id, a.agent_type AS type, s.busy_ns AS GpuTime, w.wall_ns AS WallTime, s.busy_ns * 1.0 / w.wall_ns AS Busy
FROM (
    SELECT process, gpu, SUM(end_ns - start_ns) AS busy_ns
    FROM gpu_segments
    WHERE compute > 0 OR comm > 0 OR copies > 0
    GROUP BY process, gpu
) AS s
JOIN agents AS a ON a.process = s.process AND a.gpu = s.gpu
JOIN (SELECT process, MAX(end_ns) - MIN(start_ns) AS wall_ns FROM gpu_segments WHERE compute > 0 OR comm > 0 OR copies > 0 GROUP BY process) AS w
    ON w.process = s.process
