-- title: Range summary
-- about: Time on the host and on the GPU of the ROCTx ranges of each path, with and without the ranges that lie in them, most work of their own first. Work belongs to the range in which it was launched.
-- kind: summary
-- plot: ranked label=path value=self_ns role=neutral
-- needs: ranges range_self_times processes
-- local: timed
-- by:
-- dimensions: rank, process, node, hostname, tid, depth, message
-- param: top int = 0 -- first N paths of each group, 0 = all
-- column: path text -- messages from the outermost range to this one
-- column: kind text -- thread or process
-- column: calls count -- ranges
-- column: total_ns ns -- sum of the times on the host
-- column: self_ns ns -- the same without the ranges that lie in them
-- column: mean_ns ns -- mean time on the host
-- column: median_ns ns -- median time on the host
-- column: min_ns ns -- shortest range
-- column: max_ns ns -- longest range
-- column: kernels count -- kernels launched in them, in the ranges that lie in them too
-- column: gpu_ns ns -- sum of the durations of these kernels and of the copies
-- column: self_kernels count -- kernels launched in them and in no range that lies in them
-- column: self_gpu_ns ns -- sum of the durations of these kernels and copies; over all ranges of threads each counts once
-- column: self_gpu_pct pct -- share of what was launched in any range of the group
WITH timed AS (
    SELECT
        {{ keys_of('r') }}r.path, r.kind, r.duration_ns, r.kernels,
        r.kernel_ns + r.copy_ns AS gpu_ns,
        s.self_ns, s.self_kernels,
        s.self_kernel_ns + s.self_copy_ns AS self_gpu_ns
    FROM ranges AS r
    JOIN range_self_times AS s ON s.process = r.process AND s.range_id = r.range_id{{ join_processes('r') }}
),
per_path AS (
    SELECT
        {{ keys }}path, kind,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        CAST(SUM(self_ns) AS BIGINT) AS self_ns,
        MEDIAN(CAST(duration_ns AS DOUBLE)) AS median_ns,
        MIN(duration_ns) AS min_ns,
        MAX(duration_ns) AS max_ns,
        {{ sums('kernels, gpu_ns, self_kernels, self_gpu_ns') }}
    FROM timed
    GROUP BY {{ keys }}path, kind
),
labelled AS (
    SELECT
        {{ keys_as_text(['message']) }}path,
        CAST(kind AS VARCHAR) AS kind,
        calls, total_ns, self_ns, median_ns, min_ns, max_ns, kernels, gpu_ns, self_kernels, self_gpu_ns,
        -total_ns AS below_total
    FROM per_path
),
placed AS (
    SELECT
        {{ keys }}path, kind, calls, total_ns, self_ns, median_ns, min_ns, max_ns, kernels, gpu_ns,
        self_kernels, self_gpu_ns,
        CAST(SUM(self_gpu_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns
        {{- place_by('-self_gpu_ns, below_total, path, kind') }}
    FROM labelled
)
SELECT
    {{ keys }}path,
    kind,
    calls,
    total_ns,
    self_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    median_ns,
    min_ns,
    max_ns,
    kernels,
    gpu_ns,
    self_kernels,
    self_gpu_ns,
    {{ percent('self_gpu_ns', 'group_ns') }} AS self_gpu_pct
FROM placed
{{ top_by('self_gpu_ns DESC, total_ns DESC, path, kind') }}
