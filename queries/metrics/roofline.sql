-- title: Roofline
-- about: Work and traffic of every kernel, and how close it comes to its roof. The roof is the minimum time that the device needs for the slowest of: vector work, matrix work (each precision at its own peak), and bytes at each memory level. Kernels far below their roof wait for something else. Missing counters stay unknown: a sum needs all its counters for every kernel, and the roof needs all vector work, matrix work and bytes. Dispatches lost by a pass count like the others of their kernel.
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
WITH {{ roof_steps(keys, keys_of('m'), join_symbols('m', 'kernel_name' in by) ~ join_processes('m')) }},
labelled AS (
    SELECT
        {{ keys_as_text(['kernel_name']) }}{{ roof_times_and_peaks }},
        {{ roof_work | join(', ') }},
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
    {{ (roof_flops + ['mfma_iops_i8']) | join(', ') }},
    flops,
    {{ roof_bytes | join(', ') }},
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
