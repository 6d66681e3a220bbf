-- Copies by the names that rocprofv3 has for their directions.
SELECT {copy_name} AS name,
    duration_ns
FROM memory_copies AS c
WHERE c.process = {process} AND c.valid
