SELECT process, gpu, MIN(start_ns) AS first_ns, MAX(end_ns) AS last_ns
FROM gpu_segments
GROUP BY process, gpu
ORDER BY process NULLS FIRST, gpu NULLS FIRST
