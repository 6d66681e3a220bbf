-- title: Iteration summary
-- about: Units of work of every process: their kind and evidence, phases, jumps, and times of the steady ones.
-- kind: summary
-- needs: iterations kernels
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: unit text -- step, replay, iteration or repetition; layer or range if `--unit` chose these
-- column: found_by text -- evidence: range, server_marker, tokens, graph_replay or kernel_sequence
-- column: period count -- usual number of kernels of one
-- column: iterations count -- units
-- column: warmup count -- slow ones at the start
-- column: steady count -- those between
-- column: prefill count -- steps of an LLM server with prompts
-- column: cooldown count -- slow ones at the end
-- column: before_ns ns -- first kernel of the process to the start of the first iteration
-- column: warmup_ns ns -- time of the slow ones at the start
-- column: steady_ns ns -- time of the steady ones
-- column: prefill_ns ns -- time of the steps with prompts
-- column: cooldown_ns ns -- time of the slow ones at the end
-- column: after_ns ns -- end of the last iteration to the end of the last kernel
-- column: median_ns ns -- median of the steady ones
-- column: longer_ns ns -- time of the longer steady ones above that median, added up
-- column: mean_ns ns -- mean of the steady ones
-- column: std_ns ns -- sample standard deviation of the steady ones, null for one
-- column: min_ns ns -- shortest steady one
-- column: max_ns ns -- longest steady one
-- column: kernel_pct pct -- kernel time of the steady ones, overlaps counted again, of their time
-- column: levels count -- levels of the durations of steady ones; 1 if they do not jump
-- column: jump_at id -- first of the steady ones after the largest jump
-- column: before_jump_ns ns -- median of the level before it
-- column: after_jump_ns ns -- median of the level after it
WITH per_process AS (
    SELECT
        process, rank,
        MIN(CAST(unit AS VARCHAR)) AS unit,
        MIN(CAST(found_by AS VARCHAR)) AS found_by,
        MAX(period) AS period,
        CAST(COUNT(*) AS BIGINT) AS iterations,
        CAST(COUNT(CASE WHEN phase = 'warmup' THEN 1 END) AS BIGINT) AS warmup,
        CAST(COUNT(CASE WHEN phase = 'steady' THEN 1 END) AS BIGINT) AS steady,
        CAST(COUNT(CASE WHEN phase = 'cooldown' THEN 1 END) AS BIGINT) AS cooldown,
        CAST(COUNT(CASE WHEN phase = 'prefill' THEN 1 END) AS BIGINT) AS prefill,
        {{ sum_if("phase = 'prefill'", 'duration_ns') }} AS prefill_ns,
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
longer AS (
    SELECT
        i.process,
        SUM(CASE WHEN CAST(i.duration_ns AS DOUBLE) > p.median_ns THEN CAST(i.duration_ns AS DOUBLE) - p.median_ns ELSE CAST(0 AS DOUBLE) END) AS longer_ns
    FROM iterations AS i
    JOIN per_process AS p ON p.process = i.process
    WHERE i.phase = 'steady'
    GROUP BY i.process
),
of_levels AS (
    SELECT
        process, level,
        MIN(iteration) AS first_iteration,
        MEDIAN(CAST(duration_ns AS DOUBLE)) AS level_ns
    FROM iterations
    WHERE phase = 'steady'
    GROUP BY process, level
),
followed AS (
    SELECT
        process, level, first_iteration, level_ns,
        LAG(level_ns) OVER (PARTITION BY process ORDER BY level) AS before_ns
    FROM of_levels
),
ranked AS (
    SELECT
        process, first_iteration, level_ns, before_ns,
        CAST(COUNT(*) OVER (PARTITION BY process) AS BIGINT) AS levels,
        ROW_NUMBER() OVER (
            PARTITION BY process
            ORDER BY COALESCE(-ABS(level_ns - before_ns), CAST(1 AS DOUBLE)), level NULLS FIRST
        ) AS place
    FROM followed
),
jumps AS (
    SELECT
        process, levels,
        CASE WHEN before_ns IS NOT NULL THEN first_iteration END AS jump_at,
        before_ns AS before_jump_ns,
        CASE WHEN before_ns IS NOT NULL THEN level_ns END AS after_jump_ns
    FROM ranked
    WHERE place = 1
),
kernel_span AS (
    SELECT process, MIN(start_ns) AS first_ns, MAX(end_ns) AS last_ns
    FROM kernels
    WHERE valid
    GROUP BY process
)
SELECT
    p.rank,
    p.unit,
    p.found_by,
    p.period,
    p.iterations,
    p.warmup,
    p.steady,
    p.prefill,
    p.cooldown,
    CASE WHEN p.start_ns > k.first_ns THEN p.start_ns - k.first_ns ELSE 0 END AS before_ns,
    p.warmup_ns,
    p.steady_ns,
    p.prefill_ns,
    p.cooldown_ns,
    CASE WHEN k.last_ns > p.end_ns THEN k.last_ns - p.end_ns ELSE 0 END AS after_ns,
    p.median_ns,
    l.longer_ns,
    {{ ratio('p.steady_ns', 'p.steady') }} AS mean_ns,
    p.std_ns,
    p.min_ns,
    p.max_ns,
    {{ percent('p.steady_kernel_ns', 'p.steady_ns') }} AS kernel_pct,
    j.levels,
    j.jump_at,
    j.before_jump_ns,
    j.after_jump_ns
FROM per_process AS p
LEFT JOIN jumps AS j ON j.process = p.process
LEFT JOIN longer AS l ON l.process = p.process
LEFT JOIN kernel_span AS k ON k.process = p.process
ORDER BY p.rank NULLS FIRST, p.process NULLS FIRST
