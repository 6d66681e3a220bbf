-- title: Clock by kernel
-- about: Clock, power and temperature of the GPU while each kernel ran, from samples, weighted by duration. Samples are sparse: a kernel shorter than the sampling interval has the value of the last sample before it.
-- kind: summary
-- needs: kernel_clocks kernel_symbols processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, category, queue_id
-- param: top int = 0 -- first N kernels of each group, 0 = all
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: calls count -- dispatches on GPUs that have samples
-- column: total_ns ns -- sum of their durations
-- column: clock_calls count -- those with a clock
-- column: mean_mhz number -- mean clock, each dispatch counted a nanosecond longer than it took so that empty ones count
-- column: min_mhz number -- lowest clock of a dispatch
-- column: max_mhz number -- highest clock of a dispatch
-- column: mean_w number -- mean power
-- column: max_w number -- highest power of a dispatch
-- column: mean_c number -- mean temperature
-- column: max_c number -- highest temperature of a dispatch
-- column: pct pct -- share of the time of the group
{%- set shared -%}
{{ keys }}kernel_name, calls, total_ns, clock_calls, clock_mean, power_mean, temperature_mean,
        min_mhz, max_mhz, max_w, max_c, group_ns, less_total
{%- endset %}
WITH dispatches AS (
    SELECT
        {{ keys_of('k') }}{{ kernel_text('k') }},
        k.took_ns,
        CAST(k.took_ns + 1 AS DOUBLE) AS weight,
        k.clock_mhz, k.power_w, k.temperature_c
    FROM kernel_clocks AS k{{ join_symbols('k') }}{{ join_processes('k') }}
),
summed AS (
    SELECT
        {{ keys }}kernel_name,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(took_ns) AS BIGINT) AS total_ns,
        CAST(COUNT(clock_mhz) AS BIGINT) AS clock_calls,
        SUM(clock_mhz * weight) AS clock_sum,
        SUM(CASE WHEN clock_mhz IS NULL THEN CAST(0 AS DOUBLE) ELSE weight END) AS clock_weight,
        SUM(power_w * weight) AS power_sum,
        SUM(CASE WHEN power_w IS NULL THEN CAST(0 AS DOUBLE) ELSE weight END) AS power_weight,
        SUM(temperature_c * weight) AS temperature_sum,
        SUM(CASE WHEN temperature_c IS NULL THEN CAST(0 AS DOUBLE) ELSE weight END) AS temperature_weight,
        MIN(clock_mhz) AS min_mhz,
        MAX(clock_mhz) AS max_mhz,
        MAX(power_w) AS max_w,
        MAX(temperature_c) AS max_c
    FROM dispatches
    GROUP BY {{ keys }}kernel_name
),
shared AS (
    SELECT
        {{ keys }}kernel_name, calls, total_ns, clock_calls,
        CASE WHEN clock_weight > CAST(0 AS DOUBLE) THEN clock_sum END / NULLIF(clock_weight, CAST(0 AS DOUBLE)) AS clock_mean,
        CASE WHEN power_weight > CAST(0 AS DOUBLE) THEN power_sum END / NULLIF(power_weight, CAST(0 AS DOUBLE)) AS power_mean,
        CASE WHEN temperature_weight > CAST(0 AS DOUBLE) THEN temperature_sum END / NULLIF(temperature_weight, CAST(0 AS DOUBLE)) AS temperature_mean,
        min_mhz, max_mhz, max_w, max_c,
        CAST(SUM(total_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns,
        -total_ns AS less_total
    FROM summed
){{ ranked_step('shared', shared, 'less_total, kernel_name') }}
SELECT
    {{ keys }}kernel_name,
    calls,
    total_ns,
    clock_calls,
    clock_mean AS mean_mhz,
    min_mhz,
    max_mhz,
    power_mean AS mean_w,
    max_w,
    temperature_mean AS mean_c,
    max_c,
    {{ percent('total_ns', 'group_ns') }} AS pct
FROM {{ 'ranked' if top > 0 and by else 'shared' }}
{{ top_by('less_total, kernel_name') }}
