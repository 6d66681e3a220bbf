-- title: Suspected throttling
-- about: Kernel time at a low clock while power or temperature was high, from the samples of each GPU. A low clock is below a share of the highest clock that the agent records, or of the highest sampled clock. High power is near the highest sampled power, because the limit is not recorded. Clocks between kernels do not count.
-- kind: summary
-- needs: kernel_clocks agents processes
-- by: rank, gpu
-- dimensions: rank, gpu, process, device, node, hostname
-- param: low_pct float = 85 [1, 100] -- share of the highest clock below which a clock is low
-- param: power_pct float = 90 [1, 100] -- share of the highest power from which power is high
-- param: hot_c float = 90 [0, 200] -- temperature in °C from which a GPU is hot
-- param: min_pct float = 5 [0, 100] -- share of the kernel time with a clock from which throttling is suspected
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: kernel_ns ns -- durations of the dispatches with a clock
-- column: unknown_ns ns -- durations of those before the first sample of a clock
-- column: top_mhz number -- the clock that others are compared with, the highest of the row
-- column: mean_mhz number -- mean clock, weighted by the durations, each counted a nanosecond longer so that empty dispatches count
-- column: min_mhz number -- lowest clock of a dispatch
-- column: low_ns ns -- durations at a low clock
-- column: low_power_ns ns -- those with high power meanwhile
-- column: low_hot_ns ns -- those with a hot GPU meanwhile
-- column: low_pct_of_time pct -- share of low_ns in kernel_ns
-- column: max_w number -- highest power
-- column: max_c number -- highest temperature
-- column: verdict text -- throttling by power suspected, throttling by temperature suspected, low clock without a recorded cause, or none
WITH highest AS (
    SELECT process, gpu, MAX(clock_mhz) AS sampled_mhz, MAX(power_w) AS highest_w
    FROM kernel_clocks
    WHERE gpu IS NOT NULL
    GROUP BY process, gpu
),
recorded AS (
    SELECT process, gpu, MAX(CAST(max_clock_mhz AS DOUBLE)) AS recorded_mhz
    FROM agents
    WHERE gpu IS NOT NULL
    GROUP BY process, gpu
),
tops AS (
    SELECT
        h.process, h.gpu, h.highest_w,
        CASE WHEN r.recorded_mhz > CAST(0 AS DOUBLE) THEN r.recorded_mhz ELSE h.sampled_mhz END AS top_mhz
    FROM highest AS h
    LEFT JOIN recorded AS r ON r.process = h.process AND r.gpu = h.gpu
),
dispatches AS (
    SELECT
        {{ keys_of('k') }}1 AS every_row,
        k.took_ns,
        CAST(k.took_ns + 1 AS DOUBLE) AS weight,
        k.clock_mhz, k.power_w, k.temperature_c, t.top_mhz,
        CASE WHEN k.clock_mhz < t.top_mhz * CAST({{ low_pct }} AS DOUBLE) * CAST(0.01 AS DOUBLE) THEN 1 ELSE 0 END AS low,
        CASE WHEN k.power_w >= t.highest_w * CAST({{ power_pct }} AS DOUBLE) * CAST(0.01 AS DOUBLE) THEN 1 ELSE 0 END AS powerful,
        CASE WHEN k.temperature_c >= CAST({{ hot_c }} AS DOUBLE) THEN 1 ELSE 0 END AS hot
    FROM kernel_clocks AS k
    JOIN tops AS t ON t.process = k.process AND t.gpu = k.gpu{{ join_processes('k') }}
),
summed AS (
    SELECT
        {{ keys }}every_row,
        CAST(COUNT(clock_mhz) AS BIGINT) AS clocks,
        CAST(SUM(CASE WHEN clock_mhz IS NULL THEN 0 ELSE took_ns END) AS BIGINT) AS kernel_ns,
        {{ sum_if('clock_mhz IS NULL', 'took_ns') }} AS unknown_ns,
        MAX(top_mhz) AS top_mhz,
        SUM(clock_mhz * weight) AS clock_sum,
        SUM(CASE WHEN clock_mhz IS NULL THEN CAST(0 AS DOUBLE) ELSE weight END) AS clock_weight,
        MIN(clock_mhz) AS min_mhz,
        {{ sum_if('low = 1', 'took_ns') }} AS low_ns,
        {{ sum_if('low = 1 AND powerful = 1', 'took_ns') }} AS low_power_ns,
        {{ sum_if('low = 1 AND hot = 1', 'took_ns') }} AS low_hot_ns,
        MAX(power_w) AS max_w,
        MAX(temperature_c) AS max_c
    FROM dispatches
    GROUP BY {{ keys }}every_row
),
rated AS (
    SELECT
        {{ keys }}clocks, kernel_ns, unknown_ns, top_mhz,
        CASE WHEN clocks > 0 THEN clock_sum END / NULLIF(clock_weight, CAST(0 AS DOUBLE)) AS mean_mhz,
        min_mhz, low_ns, low_power_ns, low_hot_ns,
        {{ percent('low_ns', 'kernel_ns') }} AS low_pct_of_time,
        CAST(kernel_ns AS DOUBLE) * CAST({{ min_pct }} AS DOUBLE) * CAST(0.01 AS DOUBLE) AS least_ns,
        max_w, max_c
    FROM summed
)
SELECT
    {{ keys }}kernel_ns,
    unknown_ns,
    top_mhz,
    mean_mhz,
    min_mhz,
    low_ns,
    low_power_ns,
    low_hot_ns,
    low_pct_of_time,
    max_w,
    max_c,
    CASE
        WHEN clocks = 0 THEN NULL
        WHEN low_ns = 0 OR CAST(low_ns AS DOUBLE) < least_ns THEN 'none'
        WHEN CAST(low_hot_ns AS DOUBLE) >= least_ns AND low_hot_ns > 0 THEN 'throttling by temperature suspected'
        WHEN CAST(low_power_ns AS DOUBLE) >= least_ns AND low_power_ns > 0 THEN 'throttling by power suspected'
        ELSE 'low clock without a recorded cause'
    END AS verdict
FROM rated
{{ order_by('kernel_ns') }}
