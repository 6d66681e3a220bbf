SELECT
    p.rank, p.source, p.hostname, p.command, a.gpu_arch, a.gpu_model, a.cu_per_gpu, a.simd_per_cu, a.max_sclk, a.max_mclk,
    a.num_xcd, a.wave_size
FROM
    (
        SELECT rank, MIN(process) AS process, MIN(CAST(source AS VARCHAR)) AS source, MIN(CAST(hostname AS VARCHAR)) AS hostname,
            MIN(CAST(command AS VARCHAR)) AS command
        FROM processes
        GROUP BY rank
    ) AS p
    LEFT JOIN (
        SELECT rank, MIN(CAST(name AS VARCHAR)) AS gpu_arch, MIN(CAST(product_name AS VARCHAR)) AS gpu_model,
            MAX(cu_count) AS cu_per_gpu, MAX(simd_per_cu) AS simd_per_cu, MAX(max_clock_mhz) AS max_sclk,
            MAX(mem_clock_mhz) AS max_mclk, MAX(num_xcc) AS num_xcd, MAX(wave_size) AS wave_size
        FROM agents
        WHERE CAST(agent_type AS VARCHAR) = 'GPU'
        GROUP BY rank
    ) AS a ON a.rank = p.rank
ORDER BY p.rank
