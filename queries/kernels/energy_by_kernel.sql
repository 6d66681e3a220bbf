-- title: Energy by kernel
-- about: Energy of kernels where the power of their GPU was sampled: mean power while each dispatch ran, times its duration. Power is that of the whole GPU, so that kernels that run at the same time each get all of it. Most energy first.
-- kind: summary
-- needs: kernel_clocks kernel_symbols processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, category
-- param: top int = 0 -- first N kernels of each group, 0 = all
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: dispatches count -- dispatches whose power is known
-- column: kernel_ns ns -- sum of their durations
-- column: energy_j number -- energy in joules
-- column: energy_pct pct -- share of it in the energy of all kernels of the group
-- column: mean_w number -- mean power in watts, weighted by the durations
-- column: max_w number -- highest mean power of a dispatch
-- column: mean_mj number -- energy of a dispatch in millijoules, mean
WITH powered AS (
    SELECT
        {{ keys_of('k', ['kernel_name']) }}{{ kernel_name('k') }}, k.took_ns, k.power_w,
        k.power_w * CAST(k.took_ns AS DOUBLE) AS energy_nj
    FROM kernel_clocks AS k{{ join_symbols('k') }}{{ join_processes('k') }}
    WHERE k.power_w IS NOT NULL
),
summed AS (
    SELECT
        {{ keys }}kernel_name,
        CAST(COUNT(*) AS BIGINT) AS dispatches,
        CAST(SUM(took_ns) AS BIGINT) AS kernel_ns,
        SUM(energy_nj) AS energy_nj,
        MAX(power_w) AS max_w
    FROM powered
    GROUP BY {{ keys }}kernel_name
),
shared AS (
    SELECT
        {{ keys_as_text(['category']) }}{{ texts('kernel_name') }}, dispatches, kernel_ns, energy_nj, max_w,
        SUM(energy_nj) OVER ({{ per_group }}) AS all_nj
        {{- place_by('-energy_nj, CAST(kernel_name AS VARCHAR)') }}
    FROM summed
)
SELECT
    {{ keys }}kernel_name,
    dispatches,
    kernel_ns,
    energy_nj / CAST(1000000000 AS DOUBLE) AS energy_j,
    CAST(100 AS DOUBLE) * energy_nj / NULLIF(all_nj, CAST(0 AS DOUBLE)) AS energy_pct,
    energy_nj / NULLIF(CAST(kernel_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS mean_w,
    max_w,
    energy_nj / CAST(1000000 AS DOUBLE) / CAST(dispatches AS DOUBLE) AS mean_mj
FROM shared
{{ top_by('energy_j DESC, kernel_name') }}
