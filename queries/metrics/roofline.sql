-- title: Roofline
-- about: What every kernel computes and moves, and how near it comes to the roof over it. The roof is the least time that the device needs for the slowest of these: its vector work, its matrix work (each precision at its own peak), and its bytes at each level of the memory. Kernels far below their roof wait for something else. What was not counted is not known: a sum needs the counters of all its parts for every kernel in it, and the roof needs all of vector work, matrix work and bytes. Dispatches that a pass lost count like the others of their kernel.
-- kind: summary
-- plot: roofline
-- needs: metric_sums kernel_symbols processes
-- by: kernel_name
-- dimensions: kernel_name, category, rank, gpu, process, device, node, hostname
-- param: top int = 0 -- first N rows, 0 = all
-- column: kernel_name name -- kernel
-- column: dispatches count -- dispatches with counters
-- column: time_ns ns -- their durations in the counter pass
-- column: valu_flops_f16 number -- vector FLOPs of half precision
-- column: valu_flops_f32 number -- vector FLOPs of single precision
-- column: valu_flops_f64 number -- vector FLOPs of double precision
-- column: mfma_flops_f16 number -- matrix FLOPs of half precision
-- column: mfma_flops_bf16 number -- matrix FLOPs of bfloat16
-- column: mfma_flops_f32 number -- matrix FLOPs of single precision
-- column: mfma_flops_f64 number -- matrix FLOPs of double precision
-- column: mfma_flops_f8 number -- matrix FLOPs of 8 bits
-- column: mfma_flops_f6f4 number -- matrix FLOPs of 6 and 4 bits
-- column: mfma_iops_i8 number -- matrix integer operations of 8 bits
-- column: flops number -- all floating point operations; null where those of a precision that the device has were not counted
-- column: bytes_lds number -- bytes between LDS and registers
-- column: bytes_l1 number -- bytes between vector cache and registers
-- column: bytes_l2 number -- bytes between vector cache and L2
-- column: bytes_hbm number -- bytes between L2 and memory
-- column: intensity_l1 number -- FLOPs per byte of bytes_l1
-- column: intensity_l2 number -- FLOPs per byte of bytes_l2
-- column: intensity_hbm number -- FLOPs per byte of bytes_hbm
-- column: gflops number -- achieved GFLOP/s
-- column: hbm_gbps number -- achieved GB/s between L2 and memory
-- column: peak_hbm_gbps number -- GB/s that the memory allows
-- column: peak_valu_gflops number -- GFLOP/s of single precision that the vector units allow
-- column: peak_mfma_gflops number -- GFLOP/s of half precision that the matrix units allow
-- column: peak_valu_f16_gflops number -- GFLOP/s of half precision that the vector units allow
-- column: peak_valu_f64_gflops number -- GFLOP/s of double precision that the vector units allow
-- column: peak_mfma_bf16_gflops number -- GFLOP/s of bfloat16 that the matrix units allow
-- column: peak_mfma_f32_gflops number -- GFLOP/s of single precision that the matrix units allow
-- column: peak_mfma_f64_gflops number -- GFLOP/s of double precision that the matrix units allow
-- column: peak_mfma_f8_gflops number -- GFLOP/s of 8 bits that the matrix units allow
-- column: peak_mfma_f6f4_gflops number -- GFLOP/s of 6 and 4 bits that the matrix units allow
-- column: roof_ns ns -- least time that the device needs; null where any of its work or traffic was not counted, see `metrics --panel 400 --missing show`
-- column: bound text -- what takes it: valu, mfma, lds, l1, l2 or hbm; null where the roof is
-- column: roof_gflops number -- GFLOP/s that the roof allows
-- column: pct_of_roof pct -- share of roof_ns in time_ns
{%- set vector = ['valu_flops_f16', 'valu_flops_f32', 'valu_flops_f64'] %}
{%- set matrix = ['mfma_flops_f16', 'mfma_flops_bf16', 'mfma_flops_f32', 'mfma_flops_f64'] %}
{#- Types of data that not every architecture has: where a metric has no row, there is no such work. #}
{%- set of_some = ['mfma_flops_f8', 'mfma_flops_f6f4'] %}
{%- set bytes = ['bytes_lds', 'bytes_l1', 'bytes_l2', 'bytes_hbm'] %}
{%- set flops = vector + matrix + of_some %}
{%- set shown = flops + ['mfma_iops_i8'] + bytes %}
{%- set peaks = {
    'peak_hbm_gbps': 'bytes_hbm',
    'peak_valu_gflops': 'valu_flops_f32',
    'peak_mfma_gflops': 'mfma_flops_f16',
    'peak_valu_f16_gflops': 'valu_flops_f16',
    'peak_valu_f64_gflops': 'valu_flops_f64',
    'peak_mfma_bf16_gflops': 'mfma_flops_bf16',
    'peak_mfma_f32_gflops': 'mfma_flops_f32',
    'peak_mfma_f64_gflops': 'mfma_flops_f64',
    'peak_mfma_f8_gflops': 'mfma_flops_f8',
    'peak_mfma_f6f4_gflops': 'mfma_flops_f6f4',
} %}
{%- set times_and_peaks = 'dispatches, time_ns, ' ~ peaks | join(', ') %}
WITH chosen AS (
    SELECT
        {{ keys_of('m') }}m.process AS of_process,
        m.gpu AS of_gpu,
        CAST(m.kernel_name AS VARCHAR) AS of_kernel,
        CAST(m.metric AS VARCHAR) AS metric,
        m.dispatches, m.numerator, m.denominator, m.peak,
        CASE WHEN CAST(m.metric AS VARCHAR) = 'roof.time' THEN m.numerator END AS own_ns
    FROM metric_sums AS m{{ join_symbols('m', 'kernel_name' in by) }}{{ join_processes('m') }}
    WHERE m.panel = 400
),
timed AS (
    SELECT
        {{ keys }}metric, dispatches, numerator, denominator, peak,
        MAX(own_ns) OVER (PARTITION BY of_process, of_gpu, of_kernel) AS kernel_ns
    FROM chosen
),
-- The work of a kernel at the rate of its dispatches that were counted; null where none was.
worked AS (
    SELECT
        {{ keys }}1 AS every_row, metric, dispatches, peak,
        CASE
            WHEN metric = 'roof.time' THEN kernel_ns
            WHEN denominator > CAST(0 AS DOUBLE) THEN numerator * (kernel_ns / NULLIF(denominator, CAST(0 AS DOUBLE)))
        END AS work
    FROM timed
    WHERE kernel_ns > CAST(0 AS DOUBLE)
),
summed AS (
    SELECT
        {{ keys }}every_row,
        {{ sum_if("metric = 'roof.time'", 'dispatches') }} AS dispatches,
        {{ sum_if("metric = 'roof.time'") }} AS kernels,
        SUM(CASE WHEN metric = 'roof.time' THEN work ELSE CAST(0 AS DOUBLE) END) AS time_ns,
        {%- for peak, metric in peaks | items %}
        MAX(CASE WHEN metric = 'roof.{{ metric }}' THEN peak END) AS {{ peak }},
        {%- endfor %}
        {%- for metric in shown %}
        {%- set of_metric = "metric = 'roof." ~ metric ~ "'" %}
        {{ sum_if(of_metric) }} AS {{ metric }}_rows,
        {{ sum_if(of_metric ~ ' AND work IS NOT NULL') }} AS {{ metric }}_counted,
        {{ sum_if(of_metric ~ ' AND peak > CAST(0 AS DOUBLE)') }} AS {{ metric }}_bounded,
        SUM(CASE WHEN {{ of_metric }} THEN COALESCE(work, CAST(0 AS DOUBLE)) ELSE CAST(0 AS DOUBLE) END) AS {{ metric }}_work,
        SUM(
            CASE
                WHEN {{ of_metric }} AND peak > CAST(0 AS DOUBLE) THEN COALESCE(work, CAST(0 AS DOUBLE)) / NULLIF(peak, CAST(0 AS DOUBLE))
                ELSE CAST(0 AS DOUBLE)
            END
        ) AS {{ metric }}_least_ns{{ ',' if not loop.last }}
        {%- endfor %}
    FROM worked
    GROUP BY {{ keys }}every_row
),
-- How many kernels of the row lack the counters of a sum, and how many the counters or the peak.
lacking AS (
    SELECT
        {{ keys }}{{ times_and_peaks }},
        {%- for metric in shown %}
        {{ metric }}_rows, {{ metric }}_work, {{ metric }}_least_ns,
        {{ metric ~ '_rows' if metric in of_some else 'kernels' }} - {{ metric }}_counted AS {{ metric }}_lacks,
        {{ metric ~ '_rows + ' ~ metric ~ '_rows' if metric in of_some else 'kernels + kernels' }} - {{ metric }}_counted - {{ metric }}_bounded AS {{ metric }}_unbounded{{ ',' if not loop.last }}
        {%- endfor %}
    FROM summed
),
known AS (
    SELECT
        {{ keys }}{{ times_and_peaks }},
        {%- for metric in shown %}
        CASE WHEN {{ metric }}_rows > 0 AND {{ metric }}_lacks = 0 THEN {{ metric }}_work END AS {{ metric }},
        {%- endfor %}
        CASE
            WHEN {{ flops | join('_lacks + ') }}_lacks = 0
            THEN {{ flops | join('_work + ') }}_work
        END AS flops,
        CASE
            WHEN {{ vector | join('_unbounded + ') }}_unbounded = 0
            THEN {{ vector | join('_least_ns + ') }}_least_ns
        END AS valu_ns,
        CASE
            WHEN {{ (matrix + of_some + ['mfma_iops_i8']) | join('_unbounded + ') }}_unbounded = 0
            THEN {{ (matrix + of_some + ['mfma_iops_i8']) | join('_least_ns + ') }}_least_ns
        END AS mfma_ns,
        {%- for metric in bytes %}
        CASE WHEN {{ metric }}_unbounded = 0 THEN {{ metric }}_least_ns END AS {{ metric }}_ns{{ ',' if not loop.last }}
        {%- endfor %}
    FROM lacking
),
roofs AS (
    SELECT
        {{ keys }}{{ times_and_peaks }},
        {{ shown | join(', ') }},
        flops, valu_ns, mfma_ns, bytes_lds_ns, bytes_l1_ns, bytes_l2_ns, bytes_hbm_ns,
        CASE
            WHEN valu_ns IS NOT NULL AND mfma_ns IS NOT NULL AND bytes_lds_ns IS NOT NULL AND bytes_l1_ns IS NOT NULL
                AND bytes_l2_ns IS NOT NULL AND bytes_hbm_ns IS NOT NULL
            THEN GREATEST(valu_ns, mfma_ns, bytes_lds_ns, bytes_l1_ns, bytes_l2_ns, bytes_hbm_ns)
        END AS roof_ns
    FROM known
),
labelled AS (
    SELECT
        {{ keys_as_text(['kernel_name']) }}{{ times_and_peaks }},
        {{ shown | join(', ') }},
        flops,
        flops / NULLIF(bytes_l1, CAST(0 AS DOUBLE)) AS intensity_l1,
        flops / NULLIF(bytes_l2, CAST(0 AS DOUBLE)) AS intensity_l2,
        flops / NULLIF(bytes_hbm, CAST(0 AS DOUBLE)) AS intensity_hbm,
        flops / NULLIF(time_ns, CAST(0 AS DOUBLE)) AS gflops,
        bytes_hbm / NULLIF(time_ns, CAST(0 AS DOUBLE)) AS hbm_gbps,
        CASE WHEN roof_ns > CAST(0 AS DOUBLE) THEN roof_ns END AS roof_ns,
        CASE
            WHEN roof_ns IS NULL OR roof_ns <= CAST(0 AS DOUBLE) THEN NULL
            WHEN bytes_hbm_ns = roof_ns THEN 'hbm'
            WHEN bytes_l2_ns = roof_ns THEN 'l2'
            WHEN bytes_l1_ns = roof_ns THEN 'l1'
            WHEN bytes_lds_ns = roof_ns THEN 'lds'
            WHEN mfma_ns = roof_ns THEN 'mfma'
            ELSE 'valu'
        END AS bound
    FROM roofs
)
SELECT
    {{ keys }}dispatches,
    time_ns,
    {{ (flops + ['mfma_iops_i8']) | join(', ') }},
    flops,
    {{ bytes | join(', ') }},
    intensity_l1, intensity_l2, intensity_hbm,
    gflops,
    hbm_gbps,
    peak_hbm_gbps, peak_valu_gflops, peak_mfma_gflops, peak_valu_f16_gflops, peak_valu_f64_gflops,
    peak_mfma_bf16_gflops, peak_mfma_f32_gflops, peak_mfma_f64_gflops, peak_mfma_f8_gflops, peak_mfma_f6f4_gflops,
    roof_ns,
    bound,
    flops / roof_ns AS roof_gflops,
    CAST(100 AS DOUBLE) * roof_ns / NULLIF(time_ns, CAST(0 AS DOUBLE)) AS pct_of_roof
FROM labelled
ORDER BY
    time_ns DESC NULLS LAST,
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    dispatches NULLS LAST
{%- if top > 0 %}
LIMIT {{ top }}
{%- endif %}
