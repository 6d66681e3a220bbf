-- title: Profiler steps
-- about: Steps that the PyTorch profiler marks (`ProfilerStep#N`): time on the host, and the kernels and copies that any thread launched in them, the backward pass too. Work that runs on into the next step counts where it was launched. A step within another one has no row.
-- kind: trace
-- needs: regions launches kernels memory_copies
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: process id -- process
-- column: step text -- text of the range
-- column: start_ns ns -- start on the host
-- column: duration_ns ns -- time on the host
-- column: kernels count -- kernels launched in it
-- column: kernel_ns ns -- sum of their durations
-- column: comm_ns ns -- sum of the durations of communication kernels
-- column: copies count -- copies launched in it
-- column: copy_ns ns -- sum of their durations
-- column: gpu_start_ns ns -- first start of both
-- column: gpu_ns ns -- first start to last end
-- column: busy_ns ns -- time with at least one of them running, summed over the GPUs
-- column: busy_pct pct -- share of gpu_ns of these GPUs
{% set lane -%}
PARTITION BY process, place, gpu ORDER BY start_ns NULLS FIRST, end_ns NULLS FIRST, kind NULLS FIRST, target_id NULLS FIRST
{%- endset -%}
{% set in_order -%}
PARTITION BY process ORDER BY start_ns NULLS FIRST, -end_ns NULLS FIRST, region_id NULLS FIRST
{%- endset -%}
WITH marked AS (
    SELECT
        process, rank, region_id, CAST(message AS VARCHAR) AS step, start_ns, end_ns,
        MAX(end_ns) OVER ({{ in_order }} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS reached_ns
    FROM regions
    WHERE valid AND CAST(domain AS VARCHAR) = 'marker' AND CAST(message AS VARCHAR) LIKE 'ProfilerStep#%'
        AND LTRIM(SUBSTR(CAST(message AS VARCHAR), 14), '0123456789') = ''
),
followed AS (
    SELECT
        process, rank, region_id, step, start_ns, end_ns,
        LAG(reached_ns) OVER ({{ in_order }}) AS before_ns
    FROM marked
),
steps AS (
    SELECT
        process, rank, step, start_ns, end_ns,
        CAST(ROW_NUMBER() OVER ({{ in_order }}) AS BIGINT) AS place
    FROM followed
    WHERE before_ns IS NULL OR end_ns > before_ns
),
-- Steps follow one another, so that a launch belongs to the last one that has begun.
times AS (
    SELECT
        process, start_ns AS time_ns, 0 AS edge, place, CAST(NULL AS VARCHAR) AS kind, CAST(NULL AS BIGINT) AS target_id,
        CAST(NULL AS BIGINT) AS gpu, CAST(NULL AS BIGINT) AS work_start_ns, CAST(NULL AS BIGINT) AS work_end_ns
    FROM steps
    UNION ALL
    SELECT
        process, api_start_ns AS time_ns, 1 AS edge, CAST(NULL AS BIGINT) AS place, CAST(kind AS VARCHAR) AS kind, target_id,
        gpu, start_ns AS work_start_ns, end_ns AS work_end_ns
    FROM launches
),
begun AS (
    SELECT
        process, time_ns, edge, kind, target_id, gpu, work_start_ns, work_end_ns,
        MAX(place) OVER (
            PARTITION BY process ORDER BY time_ns NULLS FIRST, edge NULLS FIRST, kind NULLS FIRST, target_id NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS place
    FROM times
),
launched AS (
    SELECT b.process, b.place, b.kind, b.target_id, b.gpu, b.work_start_ns AS start_ns, b.work_end_ns AS end_ns
    FROM begun AS b
    JOIN steps AS s ON s.process = b.process AND s.place = b.place
    WHERE b.edge = 1 AND b.time_ns < s.end_ns
),
-- A copy between two GPUs keeps both busy, and is counted once.
work AS (
    SELECT process, place, kind, target_id, gpu, start_ns, end_ns, 1 AS counted
    FROM launched
    UNION ALL
    SELECT l.process, l.place, l.kind, l.target_id, c.peer_gpu AS gpu, l.start_ns, l.end_ns, 0 AS counted
    FROM launched AS l
    JOIN memory_copies AS c ON c.process = l.process AND c.copy_id = l.target_id
    WHERE l.kind = 'copy' AND c.peer_gpu <> l.gpu
),
reached AS (
    SELECT
        process, place, kind, target_id, gpu, start_ns, end_ns, counted,
        MAX(end_ns) OVER ({{ lane }} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS reached_ns
    FROM work
),
before AS (
    SELECT
        process, place, kind, target_id, gpu, start_ns, end_ns, counted,
        LAG(reached_ns) OVER ({{ lane }}) AS before_ns
    FROM reached
),
comm AS (
    SELECT process, 'kernel' AS kind, dispatch_id AS target_id
    FROM kernels
    WHERE CAST(category AS VARCHAR) = 'communication'
),
summed AS (
    SELECT
        b.process, b.place,
        {{ sum_if("b.kind = 'kernel'") }} AS kernels,
        {{ sum_if("b.kind = 'kernel'", 'b.end_ns - b.start_ns') }} AS kernel_ns,
        {{ sum_if("c.target_id IS NOT NULL", 'b.end_ns - b.start_ns') }} AS comm_ns,
        {{ sum_if("b.kind = 'copy' AND b.counted = 1") }} AS copies,
        {{ sum_if("b.kind = 'copy' AND b.counted = 1", 'b.end_ns - b.start_ns') }} AS copy_ns,
        CAST(COUNT(DISTINCT COALESCE(b.gpu, -1)) AS BIGINT) AS gpus,
        MIN(b.start_ns) AS gpu_start_ns,
        MAX(b.end_ns) - MIN(b.start_ns) AS gpu_ns,
        {{ union_time('b.before_ns', 'b.start_ns', 'b.end_ns') }} AS busy_ns
    FROM before AS b
    LEFT JOIN comm AS c ON c.process = b.process AND c.kind = b.kind AND c.target_id = b.target_id
    GROUP BY b.process, b.place
)
SELECT
    s.rank,
    s.process,
    s.step,
    s.start_ns,
    s.end_ns - s.start_ns AS duration_ns,
    COALESCE(w.kernels, 0) AS kernels,
    COALESCE(w.kernel_ns, 0) AS kernel_ns,
    COALESCE(w.comm_ns, 0) AS comm_ns,
    COALESCE(w.copies, 0) AS copies,
    COALESCE(w.copy_ns, 0) AS copy_ns,
    w.gpu_start_ns,
    w.gpu_ns,
    COALESCE(w.busy_ns, 0) AS busy_ns,
    {{ percent('w.busy_ns', 'w.gpu_ns * w.gpus') }} AS busy_pct
FROM steps AS s
LEFT JOIN summed AS w ON w.process = s.process AND w.place = s.place
{{ order_by('s.rank, s.process, s.start_ns, s.place') }}
