-- title: Kernels of ranges
-- about: The kernels launched in the ROCTx ranges of each path and in no range that lies in them, most time first. Kernels launched outside all ranges have no path.
-- kind: summary
-- needs: range_work ranges kernels kernel_symbols processes
-- by:
-- dimensions: rank, process, gpu, node, hostname, category
-- param: top int = 0 -- first N rows of each group, 0 = all
-- column: path text -- messages from the outermost range to this one
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: calls count -- dispatches
-- column: total_ns ns -- sum of the durations
-- column: mean_ns ns -- mean duration
-- column: pct pct -- share of the kernel time of the group
WITH work AS (
    SELECT
        {{ keys_of('k') }}{{ kernel_name('k') }},
        r.path, k.duration_ns
    FROM range_work AS w
    JOIN kernels AS k ON k.process = w.process AND k.dispatch_id = w.target_id
    LEFT JOIN ranges AS r ON r.process = w.process AND r.range_id = w.range_id
    {{- join_symbols('k') }}{{ join_processes('k') }}
    WHERE w.kind = 'kernel' AND k.valid
),
summed AS (
    SELECT
        {{ keys }}path, kernel_name,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns
    FROM work
    GROUP BY {{ keys }}path, kernel_name
),
labelled AS (
    SELECT
        {{ keys_as_text(['category']) }}path,
        CAST(kernel_name AS VARCHAR) AS kernel_name,
        calls, total_ns
    FROM summed
),
placed AS (
    SELECT
        {{ keys }}path, kernel_name, calls, total_ns,
        CAST(SUM(total_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns
        {{- place_by('-total_ns, path, kernel_name') }}
    FROM labelled
)
SELECT
    {{ keys }}path,
    kernel_name,
    calls,
    total_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    {{ percent('total_ns', 'group_ns') }} AS pct
FROM placed
{{ top_by('total_ns DESC, path, kernel_name') }}
