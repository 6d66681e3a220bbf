-- title: Collective summary
-- about: What collectives cost and how long GPUs waited in them for the last one, by kernel. The cost of a call is the least duration of its collective; by rank, the one that comes last most often is the one the others wait for.
-- kind: summary
-- plot: stacked label=kernel_name parts=cost_ns:communication,wait_ns:idle
-- needs: collective_kernels kernel_symbols clocks processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, communicator
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: calls count -- calls
-- column: matched count -- of them with a partner on another GPU
-- column: unmatched count -- of them without, which are in total_ns alone
-- column: total_ns ns -- sum of the durations
-- column: cost_ns ns -- sum of the least durations of the collectives, for every matched call; null where none is matched, as are wait_ns and late_ns
-- column: wait_ns ns -- what the matched calls took above that
-- column: wait_pct pct -- wait_ns as a share of the time of the matched calls
-- column: max_wait_ns ns -- longest wait of a call
-- column: late_ns ns -- by how much less the matched calls took than the longest of their collective: how late they came
-- column: last_calls count -- calls that came last in their collective
-- column: last_pct pct -- as a share of the matched ones
-- column: median_skew_ns ns -- first to last start in the collective, median over the calls; null when the clocks differ
-- column: max_skew_ns ns -- greatest of them
-- column: sized count -- matched calls whose message has a size that is known, see `collectives`
-- column: mean_message_bytes bytes -- mean size of their messages
-- column: algorithm_gb_per_s gb_per_s -- bytes of these messages over the cost of their collectives, in 10^9 bytes per second
-- column: bus_gb_per_s gb_per_s -- the same with the bytes times the bus factor of the operation, see `collectives`
WITH calls AS (
    SELECT
        {{ keys_of('k', ['process', 'rank', 'gpu']) }}k.process, k.rank, k.gpu,
        COALESCE(k.collective, -1) AS collective,
        {{ kernel_text('k') }},
        c.clock,
        k.start_ns + c.offset_ns AS start_ns,
        k.duration_ns, k.ranks,
        CAST(k.operation AS VARCHAR) AS operation,
        k.message_bytes, k.bus_factor
    FROM collective_kernels AS k
    JOIN clocks AS c ON c.process = k.process{{ join_processes('k') }}{{ join_symbols('k') }}
),
together AS (
    SELECT
        collective,
        CAST(COUNT(*) AS BIGINT) AS gpus,
        CASE WHEN MIN(clock) = MAX(clock) THEN 1 ELSE 0 END AS one_clock,
        MIN(start_ns) AS first_start_ns,
        MAX(start_ns) AS last_start_ns,
        MIN(duration_ns) AS cost_ns,
        MAX(duration_ns) AS max_ns,
        -- One message has one size on all ranks; what only some recorded holds for the others.
        CASE
            WHEN MIN(operation) = MAX(operation) AND MIN(message_bytes) = MAX(message_bytes) AND COUNT(*) <= MAX(ranks)
            THEN MIN(message_bytes)
        END AS message_bytes,
        MAX(bus_factor) AS bus_factor
    FROM calls
    WHERE collective >= 0
    GROUP BY collective
),
joined AS (
    SELECT
        {{ keys_in('c') }}c.kernel_name, c.duration_ns,
        CASE WHEN t.gpus > 1 THEN 1 ELSE 0 END AS matched,
        CASE WHEN t.gpus > 1 THEN t.cost_ns END AS cost_ns,
        CASE WHEN t.gpus > 1 THEN c.duration_ns - t.cost_ns END AS wait_ns,
        CASE WHEN t.gpus > 1 THEN t.max_ns - c.duration_ns END AS late_ns,
        CASE WHEN t.gpus > 1 AND t.one_clock = 1 THEN t.last_start_ns - t.first_start_ns END AS skew_ns,
        CASE WHEN t.gpus > 1 THEN t.message_bytes END AS message_bytes,
        CASE WHEN t.gpus > 1 THEN t.bus_factor * CAST(t.message_bytes AS DOUBLE) END AS bus_bytes,
        CASE WHEN t.gpus > 1 AND t.message_bytes IS NOT NULL THEN t.cost_ns END AS sized_ns,
        ROW_NUMBER() OVER (
            PARTITION BY c.collective
            ORDER BY
                CASE WHEN t.one_clock = 1 THEN -c.start_ns ELSE c.duration_ns END NULLS LAST,
                c.duration_ns NULLS LAST,
                c.rank NULLS LAST,
                c.process NULLS LAST,
                c.gpu NULLS LAST
        ) AS place
    FROM calls AS c
    LEFT JOIN together AS t ON t.collective = c.collective
),
summed AS (
    SELECT
        {{ keys }}kernel_name,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(matched) AS BIGINT) AS matched,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        {{ sum_if('matched = 1', 'duration_ns') }} AS matched_ns,
        CAST(SUM(COALESCE(cost_ns, 0)) AS BIGINT) AS cost_ns,
        CAST(SUM(COALESCE(wait_ns, 0)) AS BIGINT) AS wait_ns,
        MAX(wait_ns) AS max_wait_ns,
        CAST(SUM(COALESCE(late_ns, 0)) AS BIGINT) AS late_ns,
        {{ sum_if('matched = 1 AND place = 1') }} AS last_calls,
        MEDIAN(CAST(skew_ns AS DOUBLE)) AS median_skew_ns,
        MAX(skew_ns) AS max_skew_ns,
        CAST(COUNT(message_bytes) AS BIGINT) AS sized,
        SUM(CAST(message_bytes AS DOUBLE)) AS message_bytes,
        SUM(bus_bytes) AS bus_bytes,
        SUM(CAST(sized_ns AS DOUBLE)) AS sized_ns
    FROM joined
    GROUP BY {{ keys }}kernel_name
)
SELECT
    {{ keys }}kernel_name,
    calls,
    matched,
    calls - matched AS unmatched,
    total_ns,
    CASE WHEN matched > 0 THEN cost_ns END AS cost_ns,
    CASE WHEN matched > 0 THEN wait_ns END AS wait_ns,
    {{ percent('wait_ns', 'matched_ns') }} AS wait_pct,
    max_wait_ns,
    CASE WHEN matched > 0 THEN late_ns END AS late_ns,
    last_calls,
    {{ percent('last_calls', 'matched') }} AS last_pct,
    median_skew_ns,
    max_skew_ns,
    sized,
    CASE WHEN sized > 0 THEN message_bytes / CAST(sized AS DOUBLE) END AS mean_message_bytes,
    CASE WHEN sized > 0 THEN message_bytes / NULLIF(sized_ns, CAST(0 AS DOUBLE)) END AS algorithm_gb_per_s,
    CASE WHEN sized > 0 THEN bus_bytes / NULLIF(sized_ns, CAST(0 AS DOUBLE)) END AS bus_gb_per_s
FROM summed
{{ order_by('-total_ns, kernel_name') }}
