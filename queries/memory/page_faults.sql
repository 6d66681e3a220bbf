-- title: Page faults
-- about: Page faults of GPUs in unified memory, from events of the kernel driver (rocprofv3 --kfd-trace), by GPU, access and what became of the page. The time is from the fault to the end of its handling. Unpaired events, which have one time, are not counted.
-- kind: summary
-- plot: ranked label=access value=total_ns role=neutral
-- needs: regions args agents processes
-- by: rank
-- dimensions: rank, process, node, hostname
-- column: agent_id id -- agent that faults, null if it is not recorded
-- column: gpu id -- its index among the GPUs of the process
-- column: access text -- read or write, or the operation as recorded
-- column: outcome text -- migrated (the page came to the GPU) or updated (the page table did), null if it is not recorded
-- column: faults count -- faults
-- column: pages count -- different pages of 4 KiB
-- column: ranges count -- different ranges of 2 MiB
-- column: total_ns ns -- sum of the durations
-- column: mean_ns ns -- mean duration
-- column: max_ns ns -- longest fault
WITH faults AS (
    SELECT
        {{ keys_of('r', but=['process']) }}r.process, r.region_id, r.duration_ns,
        UPPER(CAST(r.name AS VARCHAR)) AS operation
    FROM regions AS r{{ join_processes('r') }}
    WHERE r.valid AND CAST(r.domain AS VARCHAR) = 'kfd' AND LOWER(CAST(r.category AS VARCHAR)) LIKE '%page_fault%'
),
{{ driver_details('faults', ['address'], ['agent']) }},
detailed AS (
    SELECT
        {{ keys_in('f', but=['process']) }}f.process, f.duration_ns, a.agent_id, a.gpu,
        CASE
            WHEN f.operation LIKE '%READ%' THEN 'read'
            WHEN f.operation LIKE '%WRITE%' THEN 'write'
            ELSE f.operation
        END AS access,
        CASE
            WHEN f.operation LIKE '%MIGRATED%' THEN 'migrated'
            WHEN f.operation LIKE '%UPDATED%' THEN 'updated'
        END AS outcome,
        CAST({{ whole_address('v.address') }} AS DOUBLE) AS address
    FROM faults AS f
    LEFT JOIN driver_values AS v ON v.process = f.process AND v.region_id = f.region_id
    LEFT JOIN agent_numbers AS a ON a.process = v.process AND a.kind = v.agent_kind AND a.number = v.agent
),
paged AS (
    SELECT
        {{ keys_but(['process']) }}process, duration_ns, agent_id, gpu, access, outcome,
        FLOOR(address / CAST(4096 AS DOUBLE)) AS page,
        FLOOR(address / CAST(2097152 AS DOUBLE)) AS address_range
    FROM detailed
),
summed AS (
    SELECT
        {{ keys }}agent_id, gpu, access, outcome,
        CAST(COUNT(*) AS BIGINT) AS faults,
        CAST(COUNT(DISTINCT page) AS BIGINT) AS pages,
        CAST(COUNT(DISTINCT address_range) AS BIGINT) AS ranges,
        CAST(COUNT(page) AS BIGINT) AS addressed,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        MAX(duration_ns) AS max_ns
    FROM paged
    GROUP BY {{ keys }}agent_id, gpu, access, outcome
)
SELECT
    {{ keys }}agent_id,
    gpu,
    access,
    outcome,
    faults,
    CASE WHEN addressed > 0 THEN pages END AS pages,
    CASE WHEN addressed > 0 THEN ranges END AS ranges,
    total_ns,
    {{ ratio('total_ns', 'faults') }} AS mean_ns,
    max_ns
FROM summed
{{ order_by('total_ns DESC, agent_id, access, outcome') }}
