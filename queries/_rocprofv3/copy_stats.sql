-- Copies by the names that rocprofv3 has for their directions.
SELECT
    CASE CAST(direction AS VARCHAR)
        WHEN 'H2D' THEN 'MEMORY_COPY_HOST_TO_DEVICE'
        WHEN 'D2H' THEN 'MEMORY_COPY_DEVICE_TO_HOST'
        WHEN 'D2D' THEN 'MEMORY_COPY_DEVICE_TO_DEVICE'
        WHEN 'P2P' THEN 'MEMORY_COPY_DEVICE_TO_DEVICE'
        WHEN 'H2H' THEN 'MEMORY_COPY_HOST_TO_HOST'
        ELSE 'MEMORY_COPY_NONE'
    END AS name,
    duration_ns
FROM memory_copies
WHERE process = {process}
