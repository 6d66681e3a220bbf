-- title: Recomputed operators
-- about: Operators of the forward pass that ran again within the backward pass, as activation checkpointing has it, most GPU time first. They are operators within a node of autograd that autograd itself recorded, which it does only with gradients enabled.
-- kind: summary
-- plot: ranked label=name value=gpu_ns role=neutral
-- needs: operators args processes
-- local: called
-- by:
-- dimensions: rank, process, node, hostname, tid
-- param: top int = 0 -- first N operators of each group, 0 = all
-- column: name text -- outermost operator that ran again
-- column: calls count -- calls
-- column: total_ns ns -- sum of the times on the host
-- column: mean_ns ns -- mean time on the host
-- column: kernels count -- kernels launched in them, in operators in them too
-- column: gpu_ns ns -- sum of the durations of these kernels and of the copies
-- column: gpu_pct pct -- share of what was launched in any operator of the group
WITH recorded AS (
    SELECT process, owner_id FROM args WHERE owner = 'region' AND name = 'Fwd thread id' AND value = '0'
),
again AS (
    SELECT o.process, o.operator_id
    FROM operators AS o
    JOIN recorded AS r ON r.process = o.process AND r.owner_id = o.operator_id
    WHERE o.kind = 'operator'
        AND o.path LIKE '%autograd::engine::evaluate_function: %'
        AND CAST(o.name AS VARCHAR) NOT LIKE 'autograd::%'
),
called AS (
    SELECT
        {{ keys_of('o') }}CAST(o.name AS VARCHAR) AS name,
        CASE WHEN a.operator_id IS NOT NULL AND parent.operator_id IS NULL THEN 1 ELSE 0 END AS calls,
        o.duration_ns, o.kernels,
        o.kernel_ns + o.copy_ns AS gpu_ns,
        o.self_kernel_ns + o.self_copy_ns AS self_gpu_ns
    FROM operators AS o
    LEFT JOIN again AS a ON a.process = o.process AND a.operator_id = o.operator_id
    LEFT JOIN again AS parent ON parent.process = o.process AND parent.operator_id = o.parent_id{{ join_processes('o') }}
    WHERE o.kind = 'operator'
),
per_name AS (
    SELECT
        {{ keys }}name,
        CAST(SUM(calls) AS BIGINT) AS calls,
        CAST(SUM(calls * duration_ns) AS BIGINT) AS total_ns,
        CAST(SUM(calls * kernels) AS BIGINT) AS kernels,
        CAST(SUM(calls * gpu_ns) AS BIGINT) AS gpu_ns,
        CAST(SUM(self_gpu_ns) AS BIGINT) AS self_gpu_ns
    FROM called
    GROUP BY {{ keys }}name
),
shared AS (
    SELECT
        {{ keys }}name, calls, total_ns, kernels, gpu_ns,
        CAST(SUM(self_gpu_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns
    FROM per_name
),
placed AS (
    SELECT
        {{ keys }}name, calls, total_ns, kernels, gpu_ns, group_ns
        {{- place_by('-gpu_ns, name') }}
    FROM shared
    WHERE calls > 0
)
SELECT
    {{ keys }}name,
    calls,
    total_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    kernels,
    gpu_ns,
    {{ percent('gpu_ns', 'group_ns') }} AS gpu_pct
FROM placed
{{ top_by('gpu_ns DESC, total_ns DESC, name') }}
