-- title: Loss waterfall
-- about: Where the time of GPUs goes, from the whole down to the least time that they need for their work: hosts that launch too late, exposed communication and copies, imbalance, clock, and units that are not full. Losses and what remains add up to the whole. Compute time is divided over kernels in proportion to their durations; clock and units need counters (those of the roofline and of its cycles), and kernels without are a step of their own. With --by rank, imbalance is that between the GPUs of each rank. GPUs of different programs (`programs`) are not compared: each program has its own imbalance, and the mean is by their GPUs.
-- kind: summary
-- needs: gpu_segments kernels metric_sums device_constants programs processes
-- by:
-- dimensions: rank, process, node, hostname
-- column: step count -- from 1
-- column: part text -- time: the longest GPU; launch: longest minus the busiest GPU; exposed: its time without a compute kernel; imbalance: the GPU that computes longest minus the mean; uncounted: kernels whose roof is unknown; clock: cycles at less than the highest clock; units: the rest above the roof; roof: least time for the work
-- column: mean_ns ns -- time per GPU: a loss, the whole (time) or what remains (roof)
-- column: pct pct -- share of the whole
-- column: left_ns ns -- what is left of the whole after this step
-- column: gpus count -- GPUs
{%- set zero = 'CAST(0 AS DOUBLE)' %}
{%- set parts = ['time', 'launch', 'exposed', 'imbalance', 'uncounted', 'clock', 'units', 'roof'] %}
{%- set of_kernel = 'rank, gpu, kernel_name' %}
WITH {{ roof_steps(of_kernel ~ ', ', 'm.rank, m.gpu, CAST(m.kernel_name AS VARCHAR) AS kernel_name, ') }},
timings AS (
    SELECT
        rank, gpu,
        CAST(kernel_name AS VARCHAR) AS kernel_name,
        SUM(CASE WHEN metric = 'roof.time' THEN numerator END) AS ns,
        SUM(CASE WHEN metric = 'roof.time' THEN CAST(dispatches AS DOUBLE) END) AS timed,
        SUM(CASE WHEN metric = 'wave.702.kernel_time_cycles' THEN numerator END) AS cycles,
        SUM(CASE WHEN metric = 'wave.702.kernel_time_cycles' THEN denominator END) AS counted
    FROM metric_sums
    GROUP BY rank, gpu, CAST(kernel_name AS VARCHAR)
),
clocks_of_gpus AS (
    SELECT rank, gpu, MAX(value) AS top_mhz
    FROM device_constants
    WHERE constant = 'sclk_mhz'
    GROUP BY rank, gpu
),
-- Cycles of a dispatch over its time are its clock: per nanosecond, in GHz.
paces AS (
    SELECT
        t.rank, t.gpu, t.kernel_name,
        CAST(1000 AS DOUBLE) * (t.cycles / NULLIF(t.counted, {{ zero }})) / NULLIF(t.ns / NULLIF(t.timed, {{ zero }}), {{ zero }})
            / NULLIF(g.top_mhz, {{ zero }}) AS pace
    FROM timings AS t
    LEFT JOIN clocks_of_gpus AS g ON g.rank = t.rank AND g.gpu = t.gpu
),
shares AS (
    SELECT
        r.rank, r.gpu, r.kernel_name,
        LEAST(CAST(1 AS DOUBLE), r.roof_ns / NULLIF(r.time_ns, {{ zero }})) AS roof_share,
        COALESCE(LEAST(CAST(1 AS DOUBLE), p.pace), CAST(1 AS DOUBLE)) AS pace
    FROM roofs AS r
    LEFT JOIN paces AS p ON p.rank = r.rank AND p.gpu = r.gpu AND p.kernel_name = r.kernel_name
    WHERE r.roof_ns > {{ zero }}
),
durations AS (
    SELECT
        k.process, p.rank, k.gpu,
        CAST(k.kernel_name AS VARCHAR) AS kernel_name,
        CAST(SUM(k.duration_ns) AS DOUBLE) AS ns
    FROM kernels AS k
    JOIN processes AS p ON p.process = k.process
    WHERE k.valid AND (k.category IS NULL OR k.category <> 'communication')
    GROUP BY k.process, p.rank, k.gpu, CAST(k.kernel_name AS VARCHAR)
),
split AS (
    SELECT
        d.process, d.gpu,
        SUM(d.ns) AS ns,
        SUM(CASE WHEN s.roof_share IS NULL THEN d.ns ELSE {{ zero }} END) AS uncounted_ns,
        SUM(CASE WHEN s.roof_share IS NULL THEN {{ zero }} ELSE d.ns * LEAST(CAST(1 AS DOUBLE) - s.pace, CAST(1 AS DOUBLE) - s.roof_share) END) AS clock_ns,
        SUM(CASE WHEN s.roof_share IS NULL THEN {{ zero }} ELSE d.ns * s.roof_share END) AS roof_ns
    FROM durations AS d
    LEFT JOIN shares AS s ON s.rank = d.rank AND s.gpu = d.gpu AND s.kernel_name = d.kernel_name
    GROUP BY d.process, d.gpu
),
times AS (
    SELECT
        process, gpu,
        CAST(SUM(end_ns - start_ns) AS BIGINT) AS time_ns,
        {{ sum_if(during['busy'], 'duration_ns') }} AS busy_ns,
        {{ sum_if(during['compute'], 'duration_ns') }} AS compute_ns
    FROM gpu_segments
    GROUP BY process, gpu
),
of_gpus AS (
    SELECT
        {%- for column in by %} {{ 'p.' ~ column }},{% endfor %}
        1 AS every_row,
        COALESCE(n.program, -1) AS program,
        CAST(t.time_ns AS DOUBLE) AS time_ns,
        CAST(t.busy_ns AS DOUBLE) AS busy_ns,
        CAST(t.compute_ns AS DOUBLE) AS compute_ns,
        CAST(t.compute_ns AS DOUBLE) * COALESCE(s.uncounted_ns / NULLIF(s.ns, {{ zero }}), CAST(1 AS DOUBLE)) AS uncounted_ns,
        CAST(t.compute_ns AS DOUBLE) * COALESCE(s.clock_ns / NULLIF(s.ns, {{ zero }}), {{ zero }}) AS clock_ns,
        CAST(t.compute_ns AS DOUBLE) * COALESCE(s.roof_ns / NULLIF(s.ns, {{ zero }}), {{ zero }}) AS roof_ns
    FROM times AS t
    JOIN processes AS p ON p.process = t.process
    LEFT JOIN split AS s ON s.process = t.process AND s.gpu = t.gpu
    LEFT JOIN programs AS n ON n.process = t.process
    WHERE p.role = 'trace'
),
of_programs AS (
    SELECT
        {{ keys }}every_row, program,
        CAST(COUNT(*) AS BIGINT) AS gpus,
        MAX(time_ns) AS time_ns,
        MAX(busy_ns) AS busy_ns,
        MAX(compute_ns) AS max_compute_ns,
        SUM(compute_ns) AS compute_ns,
        SUM(uncounted_ns) AS uncounted_ns,
        SUM(clock_ns) AS clock_ns,
        SUM(roof_ns) AS roof_ns
    FROM of_gpus
    GROUP BY {{ keys }}every_row, program
),
totals AS (
    SELECT
        {{ keys }}every_row,
        CAST(SUM(gpus) AS BIGINT) AS gpus,
        {%- for longest in ['time_ns', 'busy_ns', 'max_compute_ns'] %}
        SUM({{ longest }} * CAST(gpus AS DOUBLE)) / CAST(SUM(gpus) AS DOUBLE) AS {{ longest }},
        {%- endfor %}
        SUM(compute_ns) / CAST(SUM(gpus) AS DOUBLE) AS compute_ns,
        SUM(uncounted_ns) / CAST(SUM(gpus) AS DOUBLE) AS uncounted_ns,
        SUM(clock_ns) / CAST(SUM(gpus) AS DOUBLE) AS clock_ns,
        SUM(roof_ns) / CAST(SUM(gpus) AS DOUBLE) AS roof_ns
    FROM of_programs
    GROUP BY {{ keys }}every_row
),
steps AS (
    SELECT n
    FROM numbers
    WHERE n < {{ parts | length }}
),
falls AS (
    SELECT
        {{ keys }}s.n, t.gpus, t.time_ns,
        CASE s.n{% for part in parts %} WHEN {{ loop.index0 }} THEN '{{ part }}'{% endfor %} END AS part,
        CASE s.n
            WHEN 0 THEN t.time_ns
            WHEN 1 THEN t.time_ns - t.busy_ns
            WHEN 2 THEN t.busy_ns - t.max_compute_ns
            WHEN 3 THEN t.max_compute_ns - t.compute_ns
            WHEN 4 THEN t.uncounted_ns
            WHEN 5 THEN t.clock_ns
            WHEN 6 THEN t.compute_ns - t.uncounted_ns - t.clock_ns - t.roof_ns
            ELSE t.roof_ns
        END AS mean_ns,
        CASE s.n
            WHEN 0 THEN t.time_ns
            WHEN 1 THEN t.busy_ns
            WHEN 2 THEN t.max_compute_ns
            WHEN 3 THEN t.compute_ns
            WHEN 4 THEN t.compute_ns - t.uncounted_ns
            WHEN 5 THEN t.compute_ns - t.uncounted_ns - t.clock_ns
            ELSE t.roof_ns
        END AS left_ns
    FROM totals AS t
    CROSS JOIN steps AS s
)
SELECT
    {{ keys }}CAST(n + 1 AS BIGINT) AS step,
    part,
    mean_ns,
    CAST(100 AS DOUBLE) * mean_ns / NULLIF(time_ns, {{ zero }}) AS pct,
    left_ns,
    gpus
FROM falls
{{ order_by('step') }}
