-- title: GPU work under ranges
-- about: How much of the kernels and copies was launched in a ROCTx range, how much outside all ranges, and of how much the launching call was not recorded.
-- kind: summary
-- plot: bars label=launch value=gpu_ns
-- needs: range_work processes
-- by: rank
-- dimensions: rank, process, gpu, node, hostname, kind
-- column: rank id -- rank
-- column: launch text -- range, outside or unknown
-- column: kernels count -- kernels
-- column: kernel_ns ns -- sum of their durations
-- column: copies count -- copies
-- column: copy_ns ns -- sum of their durations
-- column: gpu_ns ns -- sum of both
-- column: pct pct -- share of all work of the group
WITH work AS (
    SELECT
        {{ keys_of('w') }}
        {%- if 'kind' not in by %}
        w.kind,
        {%- endif %}
        w.launch, w.duration_ns
    FROM range_work AS w{{ join_processes('w') }}
),
summed AS (
    SELECT
        {{ keys }}launch,
        CAST(COUNT(CASE WHEN kind = 'kernel' THEN 1 END) AS BIGINT) AS kernels,
        {{ sum_if("kind = 'kernel'", 'duration_ns') }} AS kernel_ns,
        CAST(COUNT(CASE WHEN kind = 'copy' THEN 1 END) AS BIGINT) AS copies,
        {{ sum_if("kind = 'copy'", 'duration_ns') }} AS copy_ns,
        CAST(SUM(duration_ns) AS BIGINT) AS gpu_ns
    FROM work
    GROUP BY {{ keys }}launch
),
labelled AS (
    SELECT
        {{ keys_as_text(['kind']) }}CAST(launch AS VARCHAR) AS launch,
        kernels, kernel_ns, copies, copy_ns, gpu_ns
    FROM summed
),
shared AS (
    SELECT
        {{ keys }}launch, kernels, kernel_ns, copies, copy_ns, gpu_ns,
        CAST(SUM(gpu_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns
    FROM labelled
)
SELECT
    {{ keys }}launch,
    kernels,
    kernel_ns,
    copies,
    copy_ns,
    gpu_ns,
    {{ percent('gpu_ns', 'group_ns') }} AS pct
FROM shared
{{ order_by('gpu_ns DESC, launch') }}
