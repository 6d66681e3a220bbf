-- title: Ranges on the GPU
-- about: Every ROCTx range in which something was launched, with the time from the first start to the last end of that work on the GPU, in the order of starts.
-- kind: trace
-- needs: ranges
-- by:
-- dimensions:
-- param: top int = 0 -- first N ranges of each process, 0 = all
-- column: rank id -- rank
-- column: tid id -- thread that opened the range
-- column: kind text -- thread or process
-- column: path text -- messages from the outermost range to this one
-- column: iteration count -- ordinal of this path on its thread, from 0
-- column: start_ns ns -- start on the host
-- column: duration_ns ns -- time on the host
-- column: gpu_start_ns ns -- first start of what was launched in it
-- column: gpu_duration_ns ns -- first start to last end of what was launched in it
-- column: launch_delay_ns ns -- start on the host to start on the GPU
-- column: overhang_ns ns -- end on the host to end on the GPU; negative when the host waits for it
-- column: kernels count -- kernels launched in it, in the ranges that lie in it too
-- column: work_ns ns -- sum of the durations of these kernels and of the copies
-- column: work_pct pct -- work of the time on the GPU; above 100 where work runs side by side
WITH placed AS (
    SELECT
        process, rank, tid, kind, path, iteration, start_ns, end_ns, duration_ns, gpu_start_ns, gpu_end_ns,
        kernels,
        kernel_ns + copy_ns AS work_ns,
        ROW_NUMBER() OVER (
            PARTITION BY process
            ORDER BY start_ns NULLS FIRST, depth NULLS FIRST, range_id NULLS FIRST
        ) AS place
    FROM ranges
    WHERE gpu_start_ns IS NOT NULL
)
SELECT
    rank,
    tid,
    CAST(kind AS VARCHAR) AS kind,
    path,
    iteration,
    start_ns,
    duration_ns,
    gpu_start_ns,
    gpu_end_ns - gpu_start_ns AS gpu_duration_ns,
    gpu_start_ns - start_ns AS launch_delay_ns,
    gpu_end_ns - end_ns AS overhang_ns,
    kernels,
    work_ns,
    {{ percent('work_ns', 'gpu_end_ns - gpu_start_ns') }} AS work_pct
FROM placed{{ where_place() }}
ORDER BY rank NULLS FIRST, process NULLS FIRST, place NULLS FIRST
