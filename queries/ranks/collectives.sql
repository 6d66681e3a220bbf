-- title: Collectives
-- about: Communication kernels matched to collectives across GPUs. The transfer time is the shortest duration; the others waited for the last GPU. Starts are compared only on one clock (see --align). Calls without a partner have no number and come last. Bandwidths follow rccl-tests with the shortest duration, if RCCL calls are recorded with arguments.
-- kind: trace
-- needs: collective_kernels kernel_symbols clocks
-- by:
-- dimensions:
-- column: collective id -- number, in the order of time on the GPU with most calls of the kernel
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: communicator id -- number of the communicator of the kernel, inferred from arguments of RCCL calls, otherwise from streams and queues
-- column: gpus count -- GPUs that take part
-- column: missing count -- GPUs with such calls of which none was found for this one
-- column: matched_by text -- sequence (recorded numbers), order (every GPU has as many calls), or time (calls are missing, matched by their ends)
-- column: lowest_rank id -- lowest rank that takes part
-- column: start_ns ns -- first start, null when the clocks differ
-- column: cost_ns ns -- least duration
-- column: max_ns ns -- greatest duration
-- column: wait_ns ns -- durations above the least, added up over the GPUs
-- column: hidden_ns ns -- part of the durations in which kernels of another kind run on the same GPU, added up over the GPUs
-- column: skew_ns ns -- first to last start, null when the clocks differ
-- column: leave_ns ns -- first to last end, null when the clocks differ
-- column: overlap_ns ns -- time in which all run, negative when they never do, null when the clocks differ
-- column: last_rank id -- rank that came last: by starts, or with the least duration when the clocks differ
-- column: last_gpu id -- its GPU
-- column: last_by text -- start or duration
-- column: operation text -- what the RCCL call does, null where it is not recorded or differs
-- column: ranks count -- ranks of the communicator: as recorded when it was made, else the GPUs that have such calls
-- column: message_bytes bytes -- size of the message as rccl-tests counts it, null where it is not known
-- column: algorithm_gb_per_s gb_per_s -- message_bytes over cost_ns, in 10^9 bytes per second
-- column: bus_gb_per_s gb_per_s -- that times 2(n-1)/n (all_reduce), (n-1)/n (all_gather, reduce_scatter, all_to_all, gather, scatter) or 1 for n ranks
-- column: sizes text -- arguments, or why the size is not known: no call, no arguments, unreadable arguments, mixed group, unknown ranks, sizes differ, more GPUs than ranks
WITH calls AS (
    SELECT
        k.process, k.rank, k.gpu, k.dispatch_id,
        CASE WHEN k.collective IS NULL THEN 1 ELSE 0 END AS lone,
        COALESCE(k.collective, k.dispatch_id) AS number,
        CASE WHEN k.collective IS NULL THEN k.process ELSE -1 END AS owner,
        {{ kernel_text('k') }},
        k.communicator,
        k.expected_gpus - k.gpus AS missing,
        CAST(k.matched_by AS VARCHAR) AS matched_by,
        k.ranks,
        CAST(k.operation AS VARCHAR) AS operation,
        k.message_bytes, k.bus_factor,
        CAST(k.sizes AS VARCHAR) AS sizes,
        c.clock,
        k.start_ns + c.offset_ns AS start_ns,
        k.end_ns + c.offset_ns AS end_ns,
        k.duration_ns,
        k.duration_ns - k.exposed_ns AS hidden_ns
    FROM collective_kernels AS k
    JOIN clocks AS c ON c.process = k.process{{ join_symbols('k') }}
),
-- Symbols of one kernel may differ between processes in forms of the name that are not the full one.
together AS (
    SELECT
        lone, number, owner,
        MIN(kernel_name) AS kernel_name,
        MIN(communicator) AS communicator,
        CAST(COUNT(*) AS BIGINT) AS gpus,
        MAX(missing) AS missing,
        MAX(matched_by) AS matched_by,
        MIN(rank) AS lowest_rank,
        CASE WHEN MIN(clock) = MAX(clock) THEN 1 ELSE 0 END AS one_clock,
        MIN(start_ns) AS first_start_ns,
        MAX(start_ns) AS last_start_ns,
        MIN(end_ns) AS first_end_ns,
        MAX(end_ns) AS last_end_ns,
        MIN(duration_ns) AS cost_ns,
        MAX(duration_ns) AS max_ns,
        {{ sums('hidden_ns') }},
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        MAX(ranks) AS ranks,
        MIN(operation) AS first_operation,
        MAX(operation) AS last_operation,
        CAST(COUNT(message_bytes) AS BIGINT) AS sized,
        MIN(message_bytes) AS least_bytes,
        MAX(message_bytes) AS most_bytes,
        MAX(bus_factor) AS bus_factor,
        MAX(CASE WHEN message_bytes IS NULL THEN sizes END) AS lacking
    FROM calls
    GROUP BY lone, number, owner
),
-- One message has one size on all ranks; what only some recorded holds for the others.
sized AS (
    SELECT
        lone, number, owner,
        CASE WHEN first_operation = last_operation THEN first_operation END AS operation,
        CASE
            WHEN sized = 0 THEN lacking
            WHEN first_operation <> last_operation OR least_bytes <> most_bytes THEN 'sizes differ'
            WHEN gpus > ranks THEN 'more GPUs than ranks'
            ELSE 'arguments'
        END AS sizes,
        least_bytes, bus_factor
    FROM together
),
arrivals AS (
    SELECT
        c.lone, c.number, c.owner, c.rank, c.gpu,
        ROW_NUMBER() OVER (
            PARTITION BY c.lone, c.number, c.owner
            ORDER BY
                CASE WHEN t.one_clock = 1 THEN -c.start_ns ELSE c.duration_ns END NULLS LAST,
                c.duration_ns NULLS LAST,
                c.rank NULLS LAST,
                c.process NULLS LAST,
                c.gpu NULLS LAST
        ) AS place
    FROM calls AS c
    JOIN together AS t ON t.lone = c.lone AND t.number = c.number AND t.owner = c.owner
),
last_ones AS (
    SELECT lone, number, owner, rank, gpu
    FROM arrivals
    WHERE place = 1
)
SELECT
    CASE WHEN t.lone = 0 THEN t.number END AS collective,
    t.kernel_name,
    t.communicator,
    t.gpus,
    t.missing,
    t.matched_by,
    t.lowest_rank,
    CASE WHEN t.one_clock = 1 THEN t.first_start_ns END AS start_ns,
    CASE WHEN t.gpus > 1 THEN t.cost_ns END AS cost_ns,
    t.max_ns,
    CASE WHEN t.gpus > 1 THEN t.total_ns - t.gpus * t.cost_ns END AS wait_ns,
    t.hidden_ns,
    CASE WHEN t.gpus > 1 AND t.one_clock = 1 THEN t.last_start_ns - t.first_start_ns END AS skew_ns,
    CASE WHEN t.gpus > 1 AND t.one_clock = 1 THEN t.last_end_ns - t.first_end_ns END AS leave_ns,
    CASE WHEN t.gpus > 1 AND t.one_clock = 1 THEN t.first_end_ns - t.last_start_ns END AS overlap_ns,
    CASE WHEN t.gpus > 1 THEN l.rank END AS last_rank,
    CASE WHEN t.gpus > 1 THEN l.gpu END AS last_gpu,
    CASE WHEN t.gpus > 1 AND t.one_clock = 1 THEN 'start' WHEN t.gpus > 1 THEN 'duration' END AS last_by,
    s.operation,
    t.ranks,
    CASE WHEN s.sizes = 'arguments' THEN s.least_bytes END AS message_bytes,
    CASE
        WHEN s.sizes = 'arguments' AND t.gpus > 1
        THEN {{ ratio('s.least_bytes', 't.cost_ns') }}
    END AS algorithm_gb_per_s,
    CASE
        WHEN s.sizes = 'arguments' AND t.gpus > 1
        THEN s.bus_factor * {{ ratio('s.least_bytes', 't.cost_ns') }}
    END AS bus_gb_per_s,
    s.sizes
FROM together AS t
JOIN sized AS s ON s.lone = t.lone AND s.number = t.number AND s.owner = t.owner
JOIN last_ones AS l ON l.lone = t.lone AND l.number = t.number AND l.owner = t.owner
{{ order_by('t.lone, t.number, t.owner') }}
