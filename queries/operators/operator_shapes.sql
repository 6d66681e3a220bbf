-- title: Operators by shape
-- about: Host and GPU time of the operators of PyTorch by name, shapes and types of their inputs, with and without the operators in them, most GPU time of their own first. Work belongs to the operator in which it was launched.
-- kind: summary
-- plot: ranked label=name value=self_gpu_ns role=neutral
-- needs: operators args processes
-- local: called
-- by:
-- dimensions: rank, process, node, hostname, tid, depth
-- param: top int = 0 -- first N operators of each group, 0 = all
-- column: name text -- operator
-- column: input_shapes text -- shapes of its inputs, as recorded; null without `record_shapes`
-- column: input_types text -- types of its inputs, as recorded
-- column: calls count -- calls
-- column: total_ns ns -- sum of the times on the host; an operator that calls itself counts twice
-- column: self_ns ns -- the same without the operators in them
-- column: mean_ns ns -- mean time on the host
-- column: max_ns ns -- longest call
-- column: kernels count -- kernels launched in them, in operators in them too; if these have the same name, whatever their shapes, once for the outermost
-- column: gpu_ns ns -- sum of the durations of these kernels and of the copies
-- column: self_kernels count -- kernels launched in them and in no operator in them
-- column: self_gpu_ns ns -- sum of the durations of these kernels and copies; over all operators each counts once
-- column: self_gpu_pct pct -- share of what was launched in any operator of the group
WITH shapes AS (
    SELECT process, owner_id, value FROM args WHERE owner = 'region' AND name = 'Input Dims'
),
types AS (
    SELECT process, owner_id, value FROM args WHERE owner = 'region' AND name = 'Input type'
),
called AS (
    SELECT
        {{ keys_of('o') }}CAST(o.name AS VARCHAR) AS name, s.value AS input_shapes, t.value AS input_types, o.duration_ns, o.self_ns,
        -- Work of an operator within one of the same name is among that of the outer one.
        CASE
            WHEN STRPOS('/' || o.path, '/' || CAST(o.name AS VARCHAR) || '/') > 0 THEN 0
            ELSE o.kernels
        END AS kernels,
        CASE
            WHEN STRPOS('/' || o.path, '/' || CAST(o.name AS VARCHAR) || '/') > 0 THEN 0
            ELSE o.kernel_ns + o.copy_ns
        END AS gpu_ns,
        o.self_kernels,
        o.self_kernel_ns + o.self_copy_ns AS self_gpu_ns
    FROM operators AS o
    LEFT JOIN shapes AS s ON s.process = o.process AND s.owner_id = o.operator_id
    LEFT JOIN types AS t ON t.process = o.process AND t.owner_id = o.operator_id{{ join_processes('o') }}
    WHERE o.kind = 'operator'
),
per_shape AS (
    SELECT
        {{ keys }}name, input_shapes, input_types,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        CAST(SUM(self_ns) AS BIGINT) AS self_ns,
        CAST(SUM(-duration_ns) AS BIGINT) AS below_total,
        MAX(duration_ns) AS max_ns,
        {{ sums('kernels, gpu_ns, self_kernels, self_gpu_ns') }}
    FROM called
    GROUP BY {{ keys }}name, input_shapes, input_types
),
placed AS (
    SELECT
        {{ keys }}name, input_shapes, input_types, calls, total_ns, self_ns, max_ns, kernels, gpu_ns, self_kernels, self_gpu_ns,
        CAST(SUM(self_gpu_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns
        {{- place_by('-self_gpu_ns, below_total, name, input_shapes, input_types') }}
    FROM per_shape
)
SELECT
    {{ keys }}name,
    input_shapes,
    input_types,
    calls,
    total_ns,
    self_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    max_ns,
    kernels,
    gpu_ns,
    self_kernels,
    self_gpu_ns,
    {{ percent('self_gpu_ns', 'group_ns') }} AS self_gpu_pct
FROM placed
{{ top_by('self_gpu_ns DESC, total_ns DESC, name, input_shapes, input_types') }}
