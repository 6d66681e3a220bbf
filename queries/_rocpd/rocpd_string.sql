-- Texts of names and categories, which are their own ids.
SELECT DISTINCT t.text AS id, p.guid AS guid, t.text AS string
FROM (
    SELECT process, CAST(name AS VARCHAR) AS text FROM regions
    UNION ALL
    SELECT process, CAST(category AS VARCHAR) AS text FROM regions
    UNION ALL
    SELECT process, CAST(category AS VARCHAR) AS text FROM marks
    UNION ALL
    SELECT process, CAST(region_name AS VARCHAR) AS text FROM kernels WHERE region_name IS NOT NULL
    UNION ALL
    SELECT process, 'KERNEL_DISPATCH' AS text FROM kernels
    UNION ALL
    SELECT process, 'MEMORY_COPY' AS text FROM memory_copies
    UNION ALL
    SELECT process, CASE CAST(level AS VARCHAR) WHEN 'SCRATCH' THEN 'SCRATCH_MEMORY' ELSE 'MEMORY_ALLOCATION' END AS text FROM memory_allocations
    UNION ALL
    SELECT c.process, {copy_name} AS text
    FROM memory_copies AS c
) AS t
JOIN processes AS p ON p.process = t.process
