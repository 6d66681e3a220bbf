-- title: Page migrations
-- about: Migrations of pages of unified memory between agents, from events of the kernel driver (rocprofv3 --kfd-trace), by what triggers them and from where to where. Unpaired events, which have one time, are not counted.
-- kind: summary
-- plot: ranked label=trigger value=total_bytes role=copy
-- needs: regions args agents processes
-- by: rank
-- dimensions: rank, process, node, hostname
-- column: trigger text -- prefetch, GPU page fault, CPU page fault, eviction, or the operation as recorded
-- column: direction text -- H2D, D2H, D2D, P2P or H2H, null if an agent is not recorded
-- column: src_agent_id id -- agent whose memory the pages leave
-- column: src_gpu id -- its index among the GPUs of the process, null for a CPU
-- column: dst_agent_id id -- agent whose memory they come to
-- column: dst_gpu id -- its index among the GPUs of the process, null for a CPU
-- column: migrations count -- migrations
-- column: failed count -- migrations with an error
-- column: total_bytes bytes -- bytes of their address ranges
-- column: pages count -- the same in pages of 4 KiB
-- column: total_ns ns -- sum of the durations
-- column: mean_ns ns -- mean duration
-- column: max_ns ns -- longest migration
-- column: gb_per_s gb_per_s -- total_bytes over total_ns, in 10^9 bytes per second
WITH migrations AS (
    SELECT
        {{ keys_of('r', but=['process']) }}r.process, r.region_id, r.duration_ns,
        UPPER(CAST(r.name AS VARCHAR)) AS operation
    FROM regions AS r{{ join_processes('r') }}
    WHERE r.valid AND CAST(r.domain AS VARCHAR) = 'kfd' AND LOWER(CAST(r.category AS VARCHAR)) LIKE '%page_migrate%'
),
{{ driver_details('migrations', ['start_address', 'end_address', 'error_code'], ['src_agent', 'dst_agent']) }},
detailed AS (
    SELECT
        {{ keys_in('m', but=['process']) }}m.process, m.duration_ns,
        CASE
            WHEN m.operation LIKE '%PREFETCH%' THEN 'prefetch'
            WHEN m.operation LIKE '%PAGEFAULT_GPU%' THEN 'GPU page fault'
            WHEN m.operation LIKE '%PAGEFAULT_CPU%' THEN 'CPU page fault'
            WHEN m.operation LIKE '%EVICTION%' THEN 'eviction'
            ELSE m.operation
        END AS trigger,
        s.agent_id AS src_agent_id,
        s.gpu AS src_gpu,
        s.agent_type AS src_type,
        d.agent_id AS dst_agent_id,
        d.gpu AS dst_gpu,
        d.agent_type AS dst_type,
        {{ whole_address('v.start_address') }} AS start_address,
        {{ whole_address('v.end_address') }} AS end_address,
        CASE WHEN v.error_code <> '0' THEN 1 ELSE 0 END AS failed
    FROM migrations AS m
    LEFT JOIN driver_values AS v ON v.process = m.process AND v.region_id = m.region_id
    LEFT JOIN agent_numbers AS s ON s.process = v.process AND s.kind = v.src_agent_kind AND s.number = v.src_agent
    LEFT JOIN agent_numbers AS d ON d.process = v.process AND d.kind = v.dst_agent_kind AND d.number = v.dst_agent
),
-- Only ranges within the address space of a process count.
address_ranges AS (
    SELECT
        {{ keys_but(['process']) }}process, duration_ns, trigger, src_agent_id, src_gpu, src_type, dst_agent_id, dst_gpu, dst_type, failed,
        CASE
            WHEN start_address >= 0 AND end_address >= start_address AND end_address <= {{ 2 ** 48 }} THEN end_address
        END - CASE WHEN start_address BETWEEN 0 AND {{ 2 ** 48 }} THEN start_address END AS bytes
    FROM detailed
),
summed AS (
    SELECT
        {{ keys }}trigger, src_agent_id, src_gpu, src_type, dst_agent_id, dst_gpu, dst_type,
        CAST(COUNT(*) AS BIGINT) AS migrations,
        CAST(COUNT(bytes) AS BIGINT) AS sized,
        {{ sums('failed, bytes') }},
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        MAX(duration_ns) AS max_ns
    FROM address_ranges
    GROUP BY {{ keys }}trigger, src_agent_id, src_gpu, src_type, dst_agent_id, dst_gpu, dst_type
),
labelled AS (
    SELECT
        {{ keys }}trigger,
        CASE
            WHEN src_type = 'CPU' AND dst_type = 'GPU' THEN 'H2D'
            WHEN src_type = 'GPU' AND dst_type = 'CPU' THEN 'D2H'
            WHEN src_type = 'GPU' AND dst_type = 'GPU' AND src_agent_id = dst_agent_id THEN 'D2D'
            WHEN src_type = 'GPU' AND dst_type = 'GPU' THEN 'P2P'
            WHEN src_type = 'CPU' AND dst_type = 'CPU' THEN 'H2H'
        END AS direction,
        src_agent_id, src_gpu, dst_agent_id, dst_gpu, migrations, failed,
        CASE WHEN sized > 0 THEN bytes END AS total_bytes,
        total_ns, max_ns
    FROM summed
)
SELECT
    {{ keys }}trigger,
    direction,
    src_agent_id,
    src_gpu,
    dst_agent_id,
    dst_gpu,
    migrations,
    failed,
    total_bytes,
    CAST(FLOOR(CAST(total_bytes AS DOUBLE) / CAST(4096 AS DOUBLE)) AS BIGINT) AS pages,
    total_ns,
    {{ ratio('total_ns', 'migrations') }} AS mean_ns,
    max_ns,
    {{ ratio('total_bytes', 'total_ns') }} AS gb_per_s
FROM labelled
{{ order_by('total_ns DESC, trigger, src_agent_id, dst_agent_id') }}
