-- title: Module summary
-- about: Host and GPU time of the modules of PyTorch (`nn.Module`) by name, with and without the modules in them, most GPU time first. They are recorded with Python functions (`with_stack=True`). Work of the backward pass is launched by another thread, so that it belongs only to modules that are open while it runs.
-- kind: summary
-- plot: ranked label=name value=gpu_ns role=neutral
-- needs: operators processes
-- local: called
-- by:
-- dimensions: rank, process, node, hostname, tid, depth
-- param: top int = 0 -- first N modules of each group, 0 = all
-- column: name text -- module
-- column: calls count -- calls
-- column: total_ns ns -- sum of the times on the host; a module that calls itself counts twice
-- column: self_ns ns -- the same without the modules in them
-- column: mean_ns ns -- mean time on the host
-- column: max_ns ns -- longest call
-- column: kernels count -- kernels launched in them, in modules in them too; once if these have the same name
-- column: gpu_ns ns -- sum of the durations of these kernels and of the copies
-- column: self_kernels count -- kernels launched in them and in no module in them
-- column: self_gpu_ns ns -- sum of the durations of these kernels and copies; over all modules each counts once
-- column: self_gpu_pct pct -- share of what was launched in any module of the group
WITH called AS (
    SELECT
        {{ keys_of('o') }}CAST(o.name AS VARCHAR) AS name, o.duration_ns, o.self_ns,
        -- Work of a module within one of the same name is among that of the outer one; paths have names as they were recorded.
        CASE
            WHEN STRPOS('/' || o.path, '/nn.Module: ' || CAST(o.name AS VARCHAR) || '/') > 0 THEN 0
            ELSE o.kernels
        END AS kernels,
        CASE
            WHEN STRPOS('/' || o.path, '/nn.Module: ' || CAST(o.name AS VARCHAR) || '/') > 0 THEN 0
            ELSE o.kernel_ns + o.copy_ns
        END AS gpu_ns,
        o.self_kernels,
        o.self_kernel_ns + o.self_copy_ns AS self_gpu_ns
    FROM operators AS o{{ join_processes('o') }}
    WHERE o.kind = 'module'
),
per_name AS (
    SELECT
        {{ keys }}name,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        CAST(SUM(self_ns) AS BIGINT) AS self_ns,
        CAST(SUM(-duration_ns) AS BIGINT) AS below_total,
        MAX(duration_ns) AS max_ns,
        {{ sums('kernels, gpu_ns, self_kernels, self_gpu_ns') }}
    FROM called
    GROUP BY {{ keys }}name
),
placed AS (
    SELECT
        {{ keys }}name, calls, total_ns, self_ns, max_ns, kernels, gpu_ns, self_kernels, self_gpu_ns,
        CAST(SUM(self_gpu_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns
        {{- place_by('-gpu_ns, below_total, name') }}
    FROM per_name
)
SELECT
    {{ keys }}name,
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
{{ top_by('gpu_ns DESC, total_ns DESC, name') }}
