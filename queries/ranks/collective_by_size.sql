-- title: Collectives by size
-- about: Communication kernels by operation, type of elements and message size, with their time, what of it is hidden behind other kernels, what is waiting for other GPUs, and bandwidths. Sizes come from the arguments of RCCL calls; without them there is a row of unknown size.
-- kind: summary
-- needs: collective_kernels processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname
-- column: operation text -- what the RCCL call does, null where it is not recorded
-- column: element_type text -- type of the elements, null where it is not recorded
-- column: message_bytes bytes -- size of the message as rccl-tests counts it, null where it is not known
-- column: ranks count -- ranks of the communicator
-- column: kernels count -- communication kernels, one for each GPU of a collective
-- column: total_ns ns -- sum of their durations
-- column: exposed_ns ns -- part of it in which no kernel of another kind runs on the GPU
-- column: hidden_ns ns -- the rest
-- column: hidden_pct pct -- share of it
-- column: wait_ns ns -- durations above the least of each collective: waiting for the last GPU; null where none has a partner
-- column: min_ns ns -- shortest kernel
-- column: mean_ns ns -- mean duration
-- column: max_ns ns -- longest kernel
-- column: algorithm_gb_per_s gb_per_s -- message_bytes over the least duration of each collective, in 10^9 bytes per second
-- column: bus_gb_per_s gb_per_s -- the same times the bus factor of the operation, see `collectives`
WITH {{ collective_waits() }},
keyed AS (
    SELECT
        {{ keys_of('k') }}CAST(k.operation AS VARCHAR) AS operation, CAST(k.element_type AS VARCHAR) AS element_type,
        k.message_bytes, k.ranks, k.duration_ns, k.exposed_ns, k.bus_factor, w.wait_ns
    FROM collective_kernels AS k
    LEFT JOIN waits AS w ON w.process = k.process AND w.dispatch_id = k.dispatch_id{{ join_processes('k') }}
),
summed AS (
    SELECT
        {{ keys }}operation, element_type, message_bytes, ranks,
        CAST(COUNT(*) AS BIGINT) AS kernels,
        {{ sums('duration_ns, exposed_ns') }},
        CAST(SUM(wait_ns) AS BIGINT) AS wait_ns,
        CAST(COUNT(wait_ns) AS BIGINT) AS together,
        MIN(duration_ns) AS min_ns,
        MAX(duration_ns) AS max_ns,
        MAX(bus_factor) AS bus_factor,
        SUM(CASE WHEN wait_ns IS NULL THEN CAST(0 AS DOUBLE) ELSE CAST(duration_ns AS DOUBLE) - wait_ns END) AS cost_ns
    FROM keyed
    GROUP BY {{ keys }}operation, element_type, message_bytes, ranks
),
moved AS (
    SELECT
        {{ keys }}operation, element_type, message_bytes, ranks, kernels, duration_ns, exposed_ns, wait_ns, together, min_ns, max_ns, bus_factor,
        CAST(message_bytes AS DOUBLE) * CAST(together AS DOUBLE) / NULLIF(cost_ns, CAST(0 AS DOUBLE)) AS gb_per_s
    FROM summed
)
SELECT
    {{ keys }}operation,
    element_type,
    message_bytes,
    ranks,
    kernels,
    duration_ns AS total_ns,
    exposed_ns,
    duration_ns - exposed_ns AS hidden_ns,
    {{ percent('duration_ns - exposed_ns', 'duration_ns') }} AS hidden_pct,
    CASE WHEN together > 0 THEN wait_ns END AS wait_ns,
    min_ns,
    {{ ratio('duration_ns', 'kernels') }} AS mean_ns,
    max_ns,
    gb_per_s AS algorithm_gb_per_s,
    bus_factor * gb_per_s AS bus_gb_per_s
FROM moved
{{ order_by('operation, element_type, message_bytes, ranks') }}
