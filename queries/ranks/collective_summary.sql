-- title: Collective summary
-- about: Transfer time of collectives and time that GPUs waited for the last one, by kernel. The transfer time of a call is the shortest duration in its collective. With --by rank, the rank that most often comes last delays the others.
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
    HAVING COUNT(*) > 1
),
-- Usually one call of each: numbering all calls takes longer.
ending AS (
    SELECT
        {{ keys_in('c', ['process', 'rank', 'gpu']) }}c.process, c.rank, c.gpu, c.collective, c.kernel_name, c.duration_ns
    FROM calls AS c
    JOIN together AS t ON t.collective = c.collective
    WHERE (t.one_clock = 1 AND (c.start_ns = t.last_start_ns OR t.last_start_ns IS NULL))
        OR (t.one_clock = 0 AND (c.duration_ns = t.cost_ns OR t.cost_ns IS NULL))
),
placed AS (
    SELECT
        {{ keys }}kernel_name,
        ROW_NUMBER() OVER (
            PARTITION BY collective
            ORDER BY duration_ns NULLS LAST, rank NULLS LAST, process NULLS LAST, gpu NULLS LAST
        ) AS place
    FROM ending
),
ends AS (
    SELECT {{ keys }}kernel_name, CAST(COUNT(*) AS BIGINT) AS last_calls
    FROM placed
    WHERE place = 1
    GROUP BY {{ keys }}kernel_name
),
joined AS (
    SELECT
        {{ keys_in('c') }}c.kernel_name, c.duration_ns,
        CASE WHEN t.gpus IS NOT NULL THEN 1 ELSE 0 END AS matched,
        t.cost_ns,
        c.duration_ns - t.cost_ns AS wait_ns,
        t.max_ns - c.duration_ns AS late_ns,
        CASE WHEN t.one_clock = 1 THEN t.last_start_ns - t.first_start_ns END AS skew_ns,
        t.message_bytes,
        t.bus_factor * CAST(t.message_bytes AS DOUBLE) AS bus_bytes,
        CASE WHEN t.message_bytes IS NOT NULL THEN t.cost_ns END AS sized_ns
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
        MEDIAN(CAST(skew_ns AS DOUBLE)) AS median_skew_ns,
        MAX(skew_ns) AS max_skew_ns,
        CAST(COUNT(message_bytes) AS BIGINT) AS sized,
        SUM(CAST(message_bytes AS DOUBLE)) AS message_bytes,
        SUM(bus_bytes) AS bus_bytes,
        SUM(CAST(sized_ns AS DOUBLE)) AS sized_ns
    FROM joined
    GROUP BY {{ keys }}kernel_name
),
counted AS (
    SELECT
        {{ keys_in('s') }}s.kernel_name, s.calls, s.matched, s.total_ns, s.matched_ns, s.cost_ns, s.wait_ns, s.max_wait_ns, s.late_ns,
        COALESCE(l.last_calls, 0) AS last_calls,
        s.median_skew_ns, s.max_skew_ns, s.sized, s.message_bytes, s.bus_bytes, s.sized_ns
    FROM summed AS s
    LEFT JOIN ends AS l ON l.kernel_name = s.kernel_name{{ and_same_keys('l', 's') }}
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
FROM counted
{{ order_by('-total_ns, kernel_name') }}
