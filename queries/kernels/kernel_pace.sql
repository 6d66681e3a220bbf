-- title: Kernel duration stability
-- about: Stability of dispatch durations of the same kernel, GPU, launch shape and recorded inputs over the trace: drift from the first third to the last, change between consecutive dispatches, and bimodality. Most kernel time first. A window does not change the numbers.
-- kind: pace
-- plot: bars label=workgroup_z value=drift_pct
-- needs: dispatch_groups collective_kernels kernel_symbols processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, category
-- param: min_drift_pct float = 3 [0, 1000000] -- change of the median from which a kernel drifts, if it is 5 standard errors at least
-- param: min_gap_pct float = 50 [0, 100] -- share of the distance between the modes that is empty, from which a kernel has two
-- param: min_mode_ratio float = 1.2 [1, 1000000] -- and how many times the shorter mode the longer one takes at least
-- param: min_calls int = 30 [9, 1000000000] -- calls below which there is no verdict
-- param: top int = 0 -- first N rows of each group, 0 = all
-- column: process id -- process
-- column: gpu id -- GPU of the process
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: grid_x count -- work-items of the grid in x
-- column: grid_y count -- work-items of the grid in y
-- column: grid_z count -- work-items of the grid in z
-- column: workgroup_x count -- work-items of a workgroup in x
-- column: workgroup_y count -- work-items of a workgroup in y
-- column: workgroup_z count -- work-items of a workgroup in z
-- column: inputs text -- shapes and types of the inputs of their operator, or message of their collective, where recorded
-- column: position text -- the work before them on their GPU or the node of their graph, if dispatches of this shape take different time by place
-- column: calls count -- dispatches
-- column: total_ns ns -- sum of their durations
-- column: median_ns ns -- median duration
-- column: spread_pct pct -- 1.4826 times the median absolute deviation over the median
-- column: jitter_pct pct -- median change of the duration from one dispatch to the next over the median
-- column: early_median_ns ns -- median of the first third of the dispatches, null under 9
-- column: late_median_ns ns -- median of the last third
-- column: drift_pct pct -- change from the one to the other
-- column: run_drift_pct pct -- the same from the first dispatch to the last, along the line through the middles of both thirds: what a steady change adds up to
-- column: drift_errors number -- the change in standard errors of the difference of two medians
-- column: low_mode_ns ns -- median of the shorter side of the best split in two, null under 10
-- column: high_mode_ns ns -- median of the longer side
-- column: high_mode_pct pct -- share of the dispatches on the longer side
-- column: mode_gap_pct pct -- share of the distance between the two that is empty: about 20 for one mode, near 100 for two
-- column: verdict text -- drifting, two modes, both, steady, too few calls, or collective: what changes may be the wait for other GPUs, see `collectives`
{%- set shape = 'grid_x, grid_y, grid_z, workgroup_x, workgroup_y, workgroup_z, inputs, position' %}
{%- set kernel = keys_and(['process', 'gpu']) ~ 'kernel_name, ' ~ shape %}
{%- set measures -%}
calls, total_ns, median_ns, spread_pct, jitter_pct, early_median_ns, late_median_ns, drift_pct, run_drift_pct,
        drift_errors, low_mode_ns, high_mode_ns, high_mode_pct, mode_gap_pct
{%- endset %}
WITH partners AS (
    SELECT process, CAST(kernel_name AS VARCHAR) AS collective_name, MAX(gpus) AS gpus
    FROM collective_kernels
    GROUP BY process, kernel_name
),
groups_of_work AS (
    SELECT
        {{ keys_of('g', ['process', 'gpu']) }}g.process, g.gpu,
        {{ kernel_text('g') }},
        g.grid_x, g.grid_y, g.grid_z, g.workgroup_x, g.workgroup_y, g.workgroup_z,
        CAST(g.inputs AS VARCHAR) AS inputs, g.position,
        g.first_dispatch_id, g.calls, g.total_ns, g.median_ns, g.mad_ns, g.jitter_ns, g.early_median_ns,
        g.late_median_ns, g.drift_noise_ns, g.low_mode_ns, g.high_mode_ns, g.high_mode_calls, g.mode_gap,
        COALESCE(c.gpus, 1) AS together
    FROM dispatch_groups AS g
    LEFT JOIN partners AS c ON c.process = g.process AND c.collective_name = CAST(g.kernel_name AS VARCHAR)
    {{- join_symbols('g') }}{{ join_processes('g') }}
),
measured AS (
    SELECT
        {{ kernel }}, first_dispatch_id, together, calls, total_ns, median_ns,
        CAST(148.26 AS DOUBLE) * mad_ns / NULLIF(median_ns, CAST(0 AS DOUBLE)) AS spread_pct,
        CAST(100 AS DOUBLE) * jitter_ns / NULLIF(median_ns, CAST(0 AS DOUBLE)) AS jitter_pct,
        early_median_ns, late_median_ns,
        CAST(100 AS DOUBLE) * (late_median_ns - early_median_ns) / NULLIF(early_median_ns, CAST(0 AS DOUBLE)) AS drift_pct,
        CASE
            WHEN CAST(5 AS DOUBLE) * early_median_ns > late_median_ns
            THEN CAST(600 AS DOUBLE) * (late_median_ns - early_median_ns) / (CAST(5 AS DOUBLE) * early_median_ns - late_median_ns)
        END AS run_drift_pct,
        (late_median_ns - early_median_ns) / NULLIF(drift_noise_ns, CAST(0 AS DOUBLE)) AS drift_errors,
        low_mode_ns, high_mode_ns,
        CAST(100 AS DOUBLE) * CAST(high_mode_calls AS DOUBLE) / CAST(calls AS DOUBLE) AS high_mode_pct,
        CAST(100 AS DOUBLE) * mode_gap AS mode_gap_pct
    FROM groups_of_work
),
judged AS (
    SELECT
        {{ kernel }}, first_dispatch_id, together, {{ measures }},
        -total_ns AS less_total,
        CASE WHEN ABS(drift_pct) >= CAST({{ min_drift_pct }} AS DOUBLE) AND ABS(drift_errors) >= CAST(5 AS DOUBLE) THEN 1 ELSE 0 END AS drifting,
        CASE
            WHEN mode_gap_pct >= CAST({{ min_gap_pct }} AS DOUBLE)
                AND high_mode_ns >= CAST({{ min_mode_ratio }} AS DOUBLE) * low_mode_ns THEN 1 ELSE 0
        END AS two_modes
    FROM measured
){{ ranked_step('judged', kernel ~ ', first_dispatch_id, together, ' ~ measures ~ ', less_total, drifting, two_modes',
    'less_total, process, first_dispatch_id') }}
SELECT
    {{ kernel }},
    {{ measures }},
    CASE
        WHEN calls < {{ min_calls }} THEN 'too few calls'
        WHEN together > 1 AND drifting + two_modes > 0 THEN 'collective'
        WHEN drifting = 1 AND two_modes = 1 THEN 'both'
        WHEN drifting = 1 THEN 'drifting'
        WHEN two_modes = 1 THEN 'two modes'
        ELSE 'steady'
    END AS verdict
FROM {{ 'ranked' if top > 0 and by else 'judged' }}
{{ top_by('less_total, process, first_dispatch_id') }}
