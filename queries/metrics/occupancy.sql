-- title: Achieved occupancy
-- about: How many of the wavefront slots every kernel used, from counters, beside how many of its wavefronts fit. Far less than fits means too few workgroups, or ones that end unequally; what limits the rest is in kernel_resources. Of kernels whose wavefronts in flight were counted.
-- kind: summary
-- plot: gauges label=kernel_name achieved=achieved_pct theoretical=theoretical_pct
-- needs: metric_sums kernel_resources kernel_symbols
-- param: top int = 0 -- first N rows, 0 = all
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: kernel_name name -- kernel
-- column: dispatches count -- dispatches whose wavefronts in flight were counted
-- column: wavefronts number -- mean wavefronts in flight on the GPU
-- column: slots number -- wavefront slots of the GPU
-- column: achieved_pct pct -- share of the slots in use
-- column: waves_per_simd number -- wavefronts per SIMD unit that fit, of the shape with the fewest; null where unknown
-- column: theoretical_pct pct -- share of the slots that fit
-- column: pct_of_theoretical pct -- achieved_pct in theoretical_pct
-- column: limited_by text -- what limits how many fit
WITH reached AS (
    SELECT
        m.process, m.rank, m.gpu, m.kernel_id,
        {{ kernel_text('m') }},
        CAST(m.kernel_name AS VARCHAR) AS full_name,
        m.dispatches,
        m.numerator / NULLIF(m.denominator, CAST(0 AS DOUBLE)) AS wavefronts,
        m.peak AS slots
    FROM metric_sums AS m{{ join_symbols('m') }}
    WHERE CAST(m.metric AS VARCHAR) = 'sol.wavefront_occupancy' AND m.dispatches > 0
),
shapes AS (
    SELECT
        rank, gpu,
        CAST(kernel_name AS VARCHAR) AS full_name,
        waves_per_simd, occupancy_pct,
        CAST(limited_by AS VARCHAR) AS limited_by,
        ROW_NUMBER() OVER (
            PARTITION BY rank, gpu, CAST(kernel_name AS VARCHAR)
            ORDER BY
                CASE WHEN occupancy_pct IS NULL THEN CAST(1000 AS DOUBLE) ELSE occupancy_pct END,
                process,
                first_dispatch_id
        ) AS place
    FROM kernel_resources
),
fits AS (
    SELECT rank, gpu, full_name, waves_per_simd, occupancy_pct, limited_by
    FROM shapes
    WHERE place = 1
),
rated AS (
    SELECT
        r.process, r.rank, r.gpu, r.kernel_id, r.kernel_name, r.dispatches, r.wavefronts, r.slots,
        CAST(100 AS DOUBLE) * r.wavefronts / NULLIF(r.slots, CAST(0 AS DOUBLE)) AS achieved_pct,
        f.waves_per_simd,
        f.occupancy_pct AS theoretical_pct,
        f.limited_by
    FROM reached AS r
    LEFT JOIN fits AS f ON f.rank = r.rank AND f.gpu = r.gpu AND f.full_name = r.full_name
)
SELECT
    rank,
    gpu,
    kernel_name,
    dispatches,
    wavefronts,
    slots,
    achieved_pct,
    waves_per_simd,
    theoretical_pct,
    CAST(100 AS DOUBLE) * achieved_pct / NULLIF(theoretical_pct, CAST(0 AS DOUBLE)) AS pct_of_theoretical,
    limited_by
FROM rated
{{ top_by('rank, gpu, achieved_pct, process, kernel_id, kernel_name') }}
