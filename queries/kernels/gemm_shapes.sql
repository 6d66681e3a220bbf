-- title: Matrix products
-- about: Speed of matrix products by shape and type, without counters, from the lines that hipBLASLt writes into ROCTx markers with `HIPBLASLT_ENABLE_MARKER=2 HIPBLASLT_LOG_MASK=32`, or rocBLAS with its bench log. The kernels of a product are those launched in its range; after a mark, those of category `gemm` that its thread launches before the next mark, outside the ranges of products. Most time first.
-- kind: summary
-- needs: gemm_problems kernels launches range_work range_self_times device_constants processes
-- only_with: gemm_problems
-- by:
-- dimensions: rank, gpu, process, device, node, hostname
-- param: top int = 0 -- first N shapes of each group, 0 = all
-- column: library name -- hipblaslt or rocblas
-- column: m count -- rows of the result, null where the products of a grouped call differ
-- column: n count -- columns of the result
-- column: k count -- length of the sums
-- column: batch count -- products of each size
-- column: problems count -- sizes of a grouped call, otherwise 1
-- column: transposed text -- whether A and B are transposed: NN, TN and so on
-- column: type text -- types of the elements of A, B and the result
-- column: compute_type text -- type in which is added up
-- column: solution_index id -- solution that the library chose, where it is logged
-- column: calls count -- calls with kernels
-- column: kernels count -- their kernels
-- column: total_ns ns -- sum of the durations of the kernels
-- column: mean_ns ns -- total_ns over calls
-- column: tflop_per_s number -- floating point operations over total_ns, in 10^12 per second
-- column: peak_tflop_per_s number -- peak of matrix units for the type of A, null when the GPU's is unknown or GPUs differ
-- column: pct_of_peak pct -- share of it
-- column: similar_tflop_per_s number -- median of the shapes of the same types with a similar number of operations in a call, within a power of four
-- column: vs_similar_pct pct -- above (or below) that median
{%- set shape = 'library, m, n, k, batch, problems, transposed, type, compute_type, solution_index' %}
{%- set lane = 'PARTITION BY process, tid ORDER BY time_ns NULLS FIRST, is_launch NULLS FIRST, id NULLS FIRST' %}
WITH problems AS (
    SELECT
        process, owner_id, tid, time_ns, {{ texts('owner, library') }}, m, n, k, batch, problems, solution_index, flop,
        COALESCE(CAST(trans_a AS VARCHAR), '?') || COALESCE(CAST(trans_b AS VARCHAR), '?') AS transposed,
        COALESCE(CAST(a_type AS VARCHAR), '?') || ' ' || COALESCE(CAST(b_type AS VARCHAR), '?') || ' '
            || COALESCE(CAST(d_type AS VARCHAR), '?') AS type,
        CAST(compute_type AS VARCHAR) AS compute_type,
        CASE
            WHEN CAST(a_type AS VARCHAR) LIKE 'f64%' THEN 'peak_matrix_fp64_gflops'
            WHEN CAST(compute_type AS VARCHAR) LIKE 'xf32%' THEN 'peak_matrix_tf32_gflops'
            WHEN CAST(a_type AS VARCHAR) LIKE 'f32%' THEN 'peak_matrix_fp32_gflops'
            WHEN CAST(a_type AS VARCHAR) LIKE 'f16%' THEN 'peak_matrix_fp16_gflops'
            WHEN CAST(a_type AS VARCHAR) LIKE 'bf16%' THEN 'peak_matrix_bf16_gflops'
            WHEN CAST(a_type AS VARCHAR) LIKE 'f8%' OR CAST(a_type AS VARCHAR) LIKE 'bf8%' THEN 'peak_matrix_fp8_gflops'
            WHEN CAST(a_type AS VARCHAR) LIKE 'f6%' OR CAST(a_type AS VARCHAR) LIKE 'bf6%' THEN 'peak_matrix_fp6_gflops'
            WHEN CAST(a_type AS VARCHAR) LIKE 'f4%' THEN 'peak_matrix_fp4_gflops'
            WHEN CAST(a_type AS VARCHAR) LIKE 'i8%' THEN 'peak_matrix_int8_gops'
        END AS peak_name
    FROM gemm_problems
),
of_range AS (
    SELECT process, owner_id
    FROM problems
    WHERE owner = 'range'
),
-- The library may open a range of its own within.
in_ranges AS (
    SELECT w.process, w.target_id AS dispatch_id, 'range' AS owner, COALESCE(i.owner_id, o.owner_id) AS owner_id
    FROM range_work AS w
    JOIN range_self_times AS r ON r.process = w.process AND r.range_id = w.range_id
    LEFT JOIN of_range AS i ON i.process = w.process AND i.owner_id = w.range_id
    LEFT JOIN of_range AS o ON o.process = w.process AND o.owner_id = r.parent_id
    WHERE CAST(w.kind AS VARCHAR) = 'kernel'
),
-- A kernel in the range of a product does not belong to a mark before it too.
of_products AS (
    SELECT DISTINCT process, dispatch_id
    FROM in_ranges
    WHERE owner_id IS NOT NULL
),
marks_in_order AS (
    SELECT
        process, tid, owner_id, time_ns,
        CAST(ROW_NUMBER() OVER (PARTITION BY process, tid ORDER BY time_ns NULLS FIRST, owner_id NULLS FIRST) AS BIGINT) AS place
    FROM problems
    WHERE owner = 'mark'
),
marking AS (
    SELECT DISTINCT process, tid
    FROM marks_in_order
),
events AS (
    SELECT process, tid, time_ns, 0 AS is_launch, owner_id AS id, place
    FROM marks_in_order
    UNION ALL
    SELECT l.process, l.tid, l.api_start_ns AS time_ns, 1 AS is_launch, l.target_id AS id, CAST(NULL AS BIGINT) AS place
    FROM launches AS l
    JOIN marking AS m ON m.process = l.process AND m.tid = l.tid
    WHERE CAST(l.kind AS VARCHAR) = 'kernel'
),
followed AS (
    SELECT
        process, tid, is_launch, id,
        MAX(place) OVER ({{ lane }} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS place
    FROM events
),
after_marks AS (
    SELECT f.process, f.id AS dispatch_id, 'mark' AS owner, m.owner_id
    FROM followed AS f
    JOIN marks_in_order AS m ON m.process = f.process AND m.tid = f.tid AND m.place = f.place
    JOIN kernels AS k ON k.process = f.process AND k.dispatch_id = f.id
    LEFT JOIN of_products AS r ON r.process = f.process AND r.dispatch_id = f.id
    WHERE f.is_launch = 1 AND CAST(k.category AS VARCHAR) = 'gemm' AND r.dispatch_id IS NULL
),
belonging AS (
    SELECT process, dispatch_id, owner, owner_id
    FROM in_ranges
    WHERE owner_id IS NOT NULL
    UNION ALL
    SELECT process, dispatch_id, owner, owner_id
    FROM after_marks
),
solving AS (
    SELECT {{ keys_of('k') }}k.process AS of_process, k.gpu AS of_gpu, b.owner, b.owner_id, k.duration_ns
    FROM belonging AS b
    JOIN kernels AS k ON k.process = b.process AND k.dispatch_id = b.dispatch_id{{ join_processes('k') }}
    WHERE k.valid
),
solved AS (
    SELECT
        {{ keys }}of_process, of_gpu, owner, owner_id,
        CAST(COUNT(*) AS BIGINT) AS kernels,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns
    FROM solving
    GROUP BY {{ keys }}of_process, of_gpu, owner, owner_id
),
peaks AS (
    SELECT process, gpu, CAST(constant AS VARCHAR) AS peak_name, value
    FROM device_constants
),
calls AS (
    SELECT
        {{ keys_in('s') }}p.{{ shape | replace(', ', ', p.') }}, s.kernels, s.total_ns, p.flop,
        c.value / CAST(1000 AS DOUBLE) AS peak
    FROM solved AS s
    JOIN problems AS p ON p.process = s.of_process AND p.owner = s.owner AND p.owner_id = s.owner_id
    LEFT JOIN peaks AS c ON c.process = s.of_process AND c.gpu = s.of_gpu AND c.peak_name = p.peak_name
),
summed AS (
    SELECT
        {{ keys }}{{ shape }},
        CAST(COUNT(*) AS BIGINT) AS calls,
        {{ sums('kernels, total_ns') }},
        SUM(flop) AS flop,
        CASE WHEN MIN(peak) = MAX(peak) AND COUNT(peak) = COUNT(*) THEN MAX(peak) END AS peak_tflop_per_s
    FROM calls
    GROUP BY {{ keys }}{{ shape }}
),
measured AS (
    SELECT
        {{ keys }}{{ shape }}, calls, kernels, total_ns, peak_tflop_per_s,
        flop / NULLIF(CAST(total_ns AS DOUBLE), CAST(0 AS DOUBLE)) / CAST(1000 AS DOUBLE) AS tflop_per_s,
        CAST(FLOOR(LOG2(flop / CAST(calls AS DOUBLE)) / CAST(2 AS DOUBLE)) AS BIGINT) AS magnitude
    FROM summed
),
medians AS (
    SELECT {{ keys }}type, magnitude, MEDIAN(tflop_per_s) AS similar, CAST(COUNT(*) AS BIGINT) AS shapes
    FROM measured
    GROUP BY {{ keys }}type, magnitude
),
placed AS (
    SELECT
        {{ keys_in('m') }}m.{{ shape | replace(', ', ', m.') }}, m.calls, m.kernels, m.total_ns, m.peak_tflop_per_s, m.tflop_per_s,
        CASE WHEN s.shapes > 1 THEN s.similar END AS similar_tflop_per_s
    FROM measured AS m
    JOIN medians AS s ON s.type = m.type AND s.magnitude = m.magnitude{{ and_same_keys('s', 'm') }}
){{ ranked_step('placed', keys ~ shape ~ ', calls, kernels, total_ns, peak_tflop_per_s, tflop_per_s, similar_tflop_per_s', '-total_ns, ' ~ shape) }}
SELECT
    {{ keys }}{{ shape | replace(', ', ',\n    ') }},
    calls,
    kernels,
    total_ns,
    {{ ratio('total_ns', 'calls') }} AS mean_ns,
    tflop_per_s,
    peak_tflop_per_s,
    CAST(100 AS DOUBLE) * tflop_per_s / NULLIF(peak_tflop_per_s, CAST(0 AS DOUBLE)) AS pct_of_peak,
    similar_tflop_per_s,
    CAST(100 AS DOUBLE) * (tflop_per_s - similar_tflop_per_s) / NULLIF(similar_tflop_per_s, CAST(0 AS DOUBLE)) AS vs_similar_pct
FROM {{ 'ranked' if top > 0 and by else 'placed' }}
{{ top_by('total_ns DESC, ' ~ shape) }}
