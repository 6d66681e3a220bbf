-- title: Peak memory
-- about: Peak of live memory on each GPU of each process, from allocations and frees, and live memory at the end. Rows over several processes sum process peaks, which may not coincide. Memory of the host is apart: PyTorch records scalars of a few bytes there, even if it records no memory of the GPU. The table `memory_live` has every change.
-- kind: summary
-- plot: bars label=level value=peak_bytes role=neutral
-- needs: memory_live agents processes
-- local: per_gpu
-- by: rank, gpu
-- dimensions: rank, gpu, process, node, hostname
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: memory name -- `GPU`, or `host` for allocations without a GPU
-- column: level name -- REAL or VIRTUAL
-- column: peak_bytes bytes -- most bytes live at once
-- column: peak_pct pct -- share of the memory of the GPU, null where its size is not recorded
-- column: peak_time_ns ns -- when that was reached first; null when the row is of several processes or GPUs
-- column: peak_allocations count -- allocations live at that time
-- column: end_bytes bytes -- bytes live after the last change
-- column: end_allocations count -- allocations live after the last change
-- column: changes count -- allocations and releases that count
-- column: allocated_bytes bytes -- sum of the sizes of all allocations
WITH changes AS (
    SELECT
        {{ keys_of('m', ['process', 'gpu']) }}m.process, m.gpu,
        CAST(m.level AS VARCHAR) AS level,
        m.time_ns, m.alloc_id, m.change_bytes, m.live_bytes, m.allocations,
        -m.live_bytes AS less_live,
        -m.time_ns AS earlier,
        -m.alloc_id AS lower
    FROM memory_live AS m{{ join_processes('m') }}
),
places AS (
    SELECT
        {{ keys_and(['process', 'gpu']) }}level, time_ns, change_bytes, live_bytes, allocations,
        ROW_NUMBER() OVER (
            PARTITION BY process, gpu, level
            ORDER BY less_live NULLS LAST, time_ns NULLS LAST, alloc_id NULLS LAST, change_bytes NULLS LAST
        ) AS peak_place,
        ROW_NUMBER() OVER (
            PARTITION BY process, gpu, level
            ORDER BY earlier NULLS LAST, lower NULLS LAST, change_bytes NULLS LAST
        ) AS end_place
    FROM changes
),
per_gpu AS (
    SELECT
        {{ keys_and(['process', 'gpu']) }}level,
        MAX(CASE WHEN peak_place = 1 THEN live_bytes END) AS peak_bytes,
        MAX(CASE WHEN peak_place = 1 THEN time_ns END) AS peak_time_ns,
        MAX(CASE WHEN peak_place = 1 THEN allocations END) AS peak_allocations,
        MAX(CASE WHEN end_place = 1 THEN live_bytes END) AS end_bytes,
        MAX(CASE WHEN end_place = 1 THEN allocations END) AS end_allocations,
        CAST(COUNT(*) AS BIGINT) AS changes,
        {{ sum_if('change_bytes > 0', 'change_bytes') }} AS allocated_bytes
    FROM places
    GROUP BY {{ keys_and(['process', 'gpu']) }}level
),
sizes AS (
    SELECT process, gpu, MAX(mem_bytes) AS mem_bytes
    FROM agents
    WHERE gpu IS NOT NULL
    GROUP BY process, gpu
),
sized AS (
    SELECT
        {{ keys_in('g') }}CASE WHEN g.gpu IS NULL THEN 'host' ELSE 'GPU' END AS memory,
        g.level, g.peak_bytes, g.peak_time_ns, g.peak_allocations, g.end_bytes, g.end_allocations,
        g.changes, g.allocated_bytes, s.mem_bytes
    FROM per_gpu AS g
    LEFT JOIN sizes AS s ON s.process = g.process AND s.gpu = g.gpu
),
summed AS (
    SELECT
        {{ keys }}memory, level,
        CAST(COUNT(*) AS BIGINT) AS parts,
        CAST(COUNT(mem_bytes) AS BIGINT) AS sized_parts,
        {{ sums('peak_bytes, mem_bytes') }},
        MAX(peak_time_ns) AS peak_time_ns,
        {{ sums('peak_allocations, end_bytes, end_allocations, changes, allocated_bytes') }}
    FROM sized
    GROUP BY {{ keys }}memory, level
)
SELECT
    {{ keys }}memory,
    level,
    peak_bytes,
    CASE WHEN parts = sized_parts THEN {{ percent('peak_bytes', 'mem_bytes') }} END AS peak_pct,
    CASE WHEN parts = 1 THEN peak_time_ns END AS peak_time_ns,
    peak_allocations,
    end_bytes,
    end_allocations,
    changes,
    allocated_bytes
FROM summed
{{ order_by('memory, level') }}
