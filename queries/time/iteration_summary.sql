-- title: Iteration summary
-- about: Repetition of the kernels of every process: period, phases, and times of the steady iterations.
-- kind: summary
-- needs: iterations kernels
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: period count -- usual number of kernels of an iteration in the sequence that repeats
-- column: iterations count -- repetitions
-- column: warmup count -- slow ones at the start
-- column: steady count -- those between
-- column: cooldown count -- slow ones at the end
-- column: before_ns ns -- first kernel of the process to the start of the first iteration
-- column: warmup_ns ns -- time of the slow ones at the start
-- column: steady_ns ns -- time of the steady ones
-- column: cooldown_ns ns -- time of the slow ones at the end
-- column: after_ns ns -- end of the last iteration to the end of the last kernel
-- column: median_ns ns -- median of the steady ones
-- column: mean_ns ns -- mean of the steady ones
-- column: std_ns ns -- sample standard deviation of the steady ones, null for one
-- column: min_ns ns -- shortest steady one
-- column: max_ns ns -- longest steady one
-- column: kernel_pct pct -- kernel time of the steady ones, overlaps counted again, of their time
WITH per_process AS (
    SELECT
        process, rank,
        MAX(period) AS period,
        CAST(COUNT(*) AS BIGINT) AS iterations,
        CAST(COUNT(CASE WHEN phase = 'warmup' THEN 1 END) AS BIGINT) AS warmup,
        CAST(COUNT(CASE WHEN phase = 'steady' THEN 1 END) AS BIGINT) AS steady,
        CAST(COUNT(CASE WHEN phase = 'cooldown' THEN 1 END) AS BIGINT) AS cooldown,
        {{ sum_if("phase = 'warmup'", 'duration_ns') }} AS warmup_ns,
        {{ sum_if("phase = 'steady'", 'duration_ns') }} AS steady_ns,
        {{ sum_if("phase = 'steady'", 'kernel_ns') }} AS steady_kernel_ns,
        {{ sum_if("phase = 'cooldown'", 'duration_ns') }} AS cooldown_ns,
        MEDIAN(CASE WHEN phase = 'steady' THEN CAST(duration_ns AS DOUBLE) END) AS median_ns,
        STDDEV(CASE WHEN phase = 'steady' THEN CAST(duration_ns AS DOUBLE) END) AS std_ns,
        MIN(CASE WHEN phase = 'steady' THEN duration_ns END) AS min_ns,
        MAX(CASE WHEN phase = 'steady' THEN duration_ns END) AS max_ns,
        MIN(start_ns) AS start_ns,
        MAX(end_ns) AS end_ns
    FROM iterations
    GROUP BY process, rank
),
kernel_span AS (
    SELECT process, MIN(start_ns) AS first_ns, MAX(end_ns) AS last_ns
    FROM kernels
    WHERE valid
    GROUP BY process
)
SELECT
    p.rank,
    p.period,
    p.iterations,
    p.warmup,
    p.steady,
    p.cooldown,
    CASE WHEN p.start_ns > k.first_ns THEN p.start_ns - k.first_ns ELSE 0 END AS before_ns,
    p.warmup_ns,
    p.steady_ns,
    p.cooldown_ns,
    CASE WHEN k.last_ns > p.end_ns THEN k.last_ns - p.end_ns ELSE 0 END AS after_ns,
    p.median_ns,
    {{ ratio('p.steady_ns', 'p.steady') }} AS mean_ns,
    p.std_ns,
    p.min_ns,
    p.max_ns,
    {{ percent('p.steady_kernel_ns', 'p.steady_ns') }} AS kernel_pct
FROM per_process AS p
LEFT JOIN kernel_span AS k ON k.process = p.process
ORDER BY p.rank NULLS FIRST, p.process NULLS FIRST
