-- title: Roofline
-- about: What every kernel computes and moves, and how near it comes to the roof over it. The roof is the least time that the device needs for the slowest of these: its vector work, its matrix work (each precision at its own peak), and its bytes at each level of the memory. Kernels far below their roof wait for something else.
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
-- column: flops number -- all floating point operations
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
-- column: roof_ns ns -- least time that the device needs
-- column: bound text -- what takes it: valu, mfma, lds, l1, l2 or hbm; null where the traffic of the memory is not known
-- column: roof_gflops number -- GFLOP/s that the roof allows
-- column: pct_of_roof pct -- share of roof_ns in time_ns
{%- set keys = by | join(', ') ~ (', ' if by else '') %}
WITH chosen AS (
    SELECT
        {%- for column in by if column != 'kernel_name' %}
        {{ 'p.' if column in ['node', 'hostname'] else 'm.' }}{{ column }},
        {%- endfor %}
        {%- if 'kernel_name' in by %}
        {%- if name == 'short' %}
        m.short_name AS kernel_name,
        {%- elif name == 'base' %}
        COALESCE(CAST(s.base_name AS VARCHAR), CAST(m.short_name AS VARCHAR)) AS kernel_name,
        {%- elif name == 'mangled' %}
        COALESCE(CAST(s.mangled_name AS VARCHAR), CAST(m.kernel_name AS VARCHAR)) AS kernel_name,
        {%- else %}
        m.kernel_name,
        {%- endif %}
        {%- endif %}
        CAST(m.metric AS VARCHAR) AS metric,
        m.dispatches,
        m.numerator,
        m.peak
    FROM metric_sums AS m
    {%- if 'kernel_name' in by and name in ['base', 'mangled'] %}
    LEFT JOIN kernel_symbols AS s ON s.process = m.process AND s.kernel_id = m.kernel_id
    {%- endif %}
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = m.process
    {%- endif %}
    WHERE m.panel = 400
),
summed AS (
    SELECT
        {{ keys }}1 AS every_row,
        CAST(SUM(CASE WHEN metric = 'roof.time' THEN dispatches ELSE 0 END) AS BIGINT) AS dispatches,
        SUM(CASE WHEN metric = 'roof.time' THEN numerator END) AS time_ns,
        MAX(CASE WHEN metric = 'roof.bytes_hbm' THEN peak END) AS peak_hbm_gbps,
        MAX(CASE WHEN metric = 'roof.valu_flops_f32' THEN peak END) AS peak_valu_gflops,
        MAX(CASE WHEN metric = 'roof.mfma_flops_f16' THEN peak END) AS peak_mfma_gflops,
        MAX(CASE WHEN metric = 'roof.valu_flops_f16' THEN peak END) AS peak_valu_f16_gflops,
        MAX(CASE WHEN metric = 'roof.valu_flops_f64' THEN peak END) AS peak_valu_f64_gflops,
        MAX(CASE WHEN metric = 'roof.mfma_flops_bf16' THEN peak END) AS peak_mfma_bf16_gflops,
        MAX(CASE WHEN metric = 'roof.mfma_flops_f32' THEN peak END) AS peak_mfma_f32_gflops,
        MAX(CASE WHEN metric = 'roof.mfma_flops_f64' THEN peak END) AS peak_mfma_f64_gflops,
        MAX(CASE WHEN metric = 'roof.mfma_flops_f8' THEN peak END) AS peak_mfma_f8_gflops,
        MAX(CASE WHEN metric = 'roof.mfma_flops_f6f4' THEN peak END) AS peak_mfma_f6f4_gflops,
        SUM(CASE WHEN metric = 'roof.valu_flops_f16' THEN numerator END) AS valu_flops_f16,
        SUM(CASE WHEN metric = 'roof.valu_flops_f32' THEN numerator END) AS valu_flops_f32,
        SUM(CASE WHEN metric = 'roof.valu_flops_f64' THEN numerator END) AS valu_flops_f64,
        SUM(CASE WHEN metric = 'roof.mfma_flops_f16' THEN numerator END) AS mfma_flops_f16,
        SUM(CASE WHEN metric = 'roof.mfma_flops_bf16' THEN numerator END) AS mfma_flops_bf16,
        SUM(CASE WHEN metric = 'roof.mfma_flops_f32' THEN numerator END) AS mfma_flops_f32,
        SUM(CASE WHEN metric = 'roof.mfma_flops_f64' THEN numerator END) AS mfma_flops_f64,
        SUM(CASE WHEN metric = 'roof.mfma_flops_f8' THEN numerator END) AS mfma_flops_f8,
        SUM(CASE WHEN metric = 'roof.mfma_flops_f6f4' THEN numerator END) AS mfma_flops_f6f4,
        SUM(CASE WHEN metric = 'roof.mfma_iops_i8' THEN numerator END) AS mfma_iops_i8,
        SUM(CASE WHEN metric = 'roof.bytes_lds' THEN numerator END) AS bytes_lds,
        SUM(CASE WHEN metric = 'roof.bytes_l1' THEN numerator END) AS bytes_l1,
        SUM(CASE WHEN metric = 'roof.bytes_l2' THEN numerator END) AS bytes_l2,
        SUM(CASE WHEN metric = 'roof.bytes_hbm' THEN numerator END) AS bytes_hbm,
        SUM(CASE WHEN metric = 'roof.valu_flops_f16' THEN numerator / NULLIF(peak, CAST(0 AS DOUBLE)) END) AS valu_flops_f16_ns,
        SUM(CASE WHEN metric = 'roof.valu_flops_f32' THEN numerator / NULLIF(peak, CAST(0 AS DOUBLE)) END) AS valu_flops_f32_ns,
        SUM(CASE WHEN metric = 'roof.valu_flops_f64' THEN numerator / NULLIF(peak, CAST(0 AS DOUBLE)) END) AS valu_flops_f64_ns,
        SUM(CASE WHEN metric = 'roof.mfma_flops_f16' THEN numerator / NULLIF(peak, CAST(0 AS DOUBLE)) END) AS mfma_flops_f16_ns,
        SUM(CASE WHEN metric = 'roof.mfma_flops_bf16' THEN numerator / NULLIF(peak, CAST(0 AS DOUBLE)) END) AS mfma_flops_bf16_ns,
        SUM(CASE WHEN metric = 'roof.mfma_flops_f32' THEN numerator / NULLIF(peak, CAST(0 AS DOUBLE)) END) AS mfma_flops_f32_ns,
        SUM(CASE WHEN metric = 'roof.mfma_flops_f64' THEN numerator / NULLIF(peak, CAST(0 AS DOUBLE)) END) AS mfma_flops_f64_ns,
        SUM(CASE WHEN metric = 'roof.mfma_flops_f8' THEN numerator / NULLIF(peak, CAST(0 AS DOUBLE)) END) AS mfma_flops_f8_ns,
        SUM(CASE WHEN metric = 'roof.mfma_flops_f6f4' THEN numerator / NULLIF(peak, CAST(0 AS DOUBLE)) END) AS mfma_flops_f6f4_ns,
        SUM(CASE WHEN metric = 'roof.mfma_iops_i8' THEN numerator / NULLIF(peak, CAST(0 AS DOUBLE)) END) AS mfma_iops_i8_ns,
        SUM(CASE WHEN metric = 'roof.bytes_lds' THEN numerator / NULLIF(peak, CAST(0 AS DOUBLE)) END) AS bytes_lds_ns,
        SUM(CASE WHEN metric = 'roof.bytes_l1' THEN numerator / NULLIF(peak, CAST(0 AS DOUBLE)) END) AS bytes_l1_ns,
        SUM(CASE WHEN metric = 'roof.bytes_l2' THEN numerator / NULLIF(peak, CAST(0 AS DOUBLE)) END) AS bytes_l2_ns,
        SUM(CASE WHEN metric = 'roof.bytes_hbm' THEN numerator / NULLIF(peak, CAST(0 AS DOUBLE)) END) AS bytes_hbm_ns
    FROM chosen
    GROUP BY {{ keys }}every_row
),
timed AS (
    SELECT
        {{ keys }}dispatches, time_ns, peak_hbm_gbps, peak_valu_gflops, peak_mfma_gflops,
        peak_valu_f16_gflops, peak_valu_f64_gflops, peak_mfma_bf16_gflops, peak_mfma_f32_gflops, peak_mfma_f64_gflops, peak_mfma_f8_gflops, peak_mfma_f6f4_gflops,
        valu_flops_f16, valu_flops_f32, valu_flops_f64, mfma_flops_f16, mfma_flops_bf16, mfma_flops_f32, mfma_flops_f64, mfma_flops_f8, mfma_flops_f6f4, mfma_iops_i8,
        bytes_lds, bytes_l1, bytes_l2, bytes_hbm,
        CASE WHEN valu_flops_f32 IS NOT NULL THEN COALESCE(valu_flops_f16, CAST(0 AS DOUBLE)) + COALESCE(valu_flops_f32, CAST(0 AS DOUBLE)) + COALESCE(valu_flops_f64, CAST(0 AS DOUBLE)) + COALESCE(mfma_flops_f16, CAST(0 AS DOUBLE)) + COALESCE(mfma_flops_bf16, CAST(0 AS DOUBLE)) + COALESCE(mfma_flops_f32, CAST(0 AS DOUBLE)) + COALESCE(mfma_flops_f64, CAST(0 AS DOUBLE)) + COALESCE(mfma_flops_f8, CAST(0 AS DOUBLE)) + COALESCE(mfma_flops_f6f4, CAST(0 AS DOUBLE)) END AS flops,
        CASE WHEN valu_flops_f32 IS NOT NULL THEN COALESCE(valu_flops_f16_ns, CAST(0 AS DOUBLE)) + COALESCE(valu_flops_f32_ns, CAST(0 AS DOUBLE)) + COALESCE(valu_flops_f64_ns, CAST(0 AS DOUBLE)) END AS valu_ns,
        CASE WHEN mfma_flops_f32 IS NOT NULL THEN COALESCE(mfma_flops_f16_ns, CAST(0 AS DOUBLE)) + COALESCE(mfma_flops_bf16_ns, CAST(0 AS DOUBLE)) + COALESCE(mfma_flops_f32_ns, CAST(0 AS DOUBLE)) + COALESCE(mfma_flops_f64_ns, CAST(0 AS DOUBLE)) + COALESCE(mfma_flops_f8_ns, CAST(0 AS DOUBLE)) + COALESCE(mfma_flops_f6f4_ns, CAST(0 AS DOUBLE)) + COALESCE(mfma_iops_i8_ns, CAST(0 AS DOUBLE)) END AS mfma_ns,
        bytes_lds_ns, bytes_l1_ns, bytes_l2_ns, bytes_hbm_ns
    FROM summed
),
roofs AS (
    SELECT
        {{ keys }}dispatches, time_ns, peak_hbm_gbps, peak_valu_gflops, peak_mfma_gflops,
        peak_valu_f16_gflops, peak_valu_f64_gflops, peak_mfma_bf16_gflops, peak_mfma_f32_gflops, peak_mfma_f64_gflops, peak_mfma_f8_gflops, peak_mfma_f6f4_gflops,
        valu_flops_f16, valu_flops_f32, valu_flops_f64, mfma_flops_f16, mfma_flops_bf16, mfma_flops_f32, mfma_flops_f64, mfma_flops_f8, mfma_flops_f6f4, mfma_iops_i8,
        bytes_lds, bytes_l1, bytes_l2, bytes_hbm,
        flops, valu_ns, mfma_ns, bytes_lds_ns, bytes_l1_ns, bytes_l2_ns, bytes_hbm_ns,
        GREATEST(COALESCE(valu_ns, CAST(0 AS DOUBLE)), COALESCE(mfma_ns, CAST(0 AS DOUBLE)), COALESCE(bytes_lds_ns, CAST(0 AS DOUBLE)), COALESCE(bytes_l1_ns, CAST(0 AS DOUBLE)), COALESCE(bytes_l2_ns, CAST(0 AS DOUBLE)), COALESCE(bytes_hbm_ns, CAST(0 AS DOUBLE))) AS roof_ns
    FROM timed
),
labelled AS (
    SELECT
        {%- for column in by %}
        {{ 'CAST(kernel_name AS VARCHAR) AS kernel_name' if column == 'kernel_name' else column }},
        {%- endfor %}
        dispatches, time_ns, peak_hbm_gbps, peak_valu_gflops, peak_mfma_gflops,
        peak_valu_f16_gflops, peak_valu_f64_gflops, peak_mfma_bf16_gflops, peak_mfma_f32_gflops, peak_mfma_f64_gflops, peak_mfma_f8_gflops, peak_mfma_f6f4_gflops,
        valu_flops_f16, valu_flops_f32, valu_flops_f64, mfma_flops_f16, mfma_flops_bf16, mfma_flops_f32, mfma_flops_f64, mfma_flops_f8, mfma_flops_f6f4, mfma_iops_i8,
        flops,
        bytes_lds, bytes_l1, bytes_l2, bytes_hbm,
        flops / NULLIF(bytes_l1, CAST(0 AS DOUBLE)) AS intensity_l1,
        flops / NULLIF(bytes_l2, CAST(0 AS DOUBLE)) AS intensity_l2,
        flops / NULLIF(bytes_hbm, CAST(0 AS DOUBLE)) AS intensity_hbm,
        flops / NULLIF(time_ns, CAST(0 AS DOUBLE)) AS gflops,
        bytes_hbm / NULLIF(time_ns, CAST(0 AS DOUBLE)) AS hbm_gbps,
        CASE WHEN roof_ns > CAST(0 AS DOUBLE) THEN roof_ns END AS roof_ns,
        CASE
            WHEN roof_ns <= CAST(0 AS DOUBLE) OR bytes_hbm_ns IS NULL THEN NULL
            WHEN bytes_hbm_ns = roof_ns THEN 'hbm'
            WHEN bytes_l2_ns = roof_ns THEN 'l2'
            WHEN bytes_l1_ns = roof_ns THEN 'l1'
            WHEN bytes_lds_ns = roof_ns THEN 'lds'
            WHEN mfma_ns = roof_ns THEN 'mfma'
            ELSE 'valu'
        END AS bound
    FROM roofs
    WHERE time_ns IS NOT NULL
)
SELECT
    {{ keys }}dispatches,
    time_ns,
    valu_flops_f16, valu_flops_f32, valu_flops_f64, mfma_flops_f16, mfma_flops_bf16, mfma_flops_f32, mfma_flops_f64, mfma_flops_f8, mfma_flops_f6f4, mfma_iops_i8,
    flops,
    bytes_lds, bytes_l1, bytes_l2, bytes_hbm,
    intensity_l1, intensity_l2, intensity_hbm,
    gflops,
    hbm_gbps,
    peak_hbm_gbps,
    peak_valu_gflops,
    peak_mfma_gflops,
    peak_valu_f16_gflops,
    peak_valu_f64_gflops,
    peak_mfma_bf16_gflops,
    peak_mfma_f32_gflops,
    peak_mfma_f64_gflops,
    peak_mfma_f8_gflops,
    peak_mfma_f6f4_gflops,
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
