-- title: Ranges
-- about: Every ROCTx range with its path, its ordinal among the ranges of that path on its thread, and what was launched in it, in the order of starts.
-- kind: trace
-- needs: ranges
-- by:
-- dimensions:
-- param: top int = 0 -- first N ranges of each process, 0 = all
-- column: rank id -- rank
-- column: tid id -- thread that opened the range
-- column: kind text -- thread for ranges that are pushed and popped, process for those that are started and stopped
-- column: depth count -- ranges of its thread that it lies in
-- column: path text -- messages from the outermost range to this one
-- column: iteration count -- ordinal of this path on its thread, from 0
-- column: start_ns ns -- start on the source's clock
-- column: duration_ns ns -- time on the host
-- column: kernels count -- kernels launched in it, in the ranges that lie in it too
-- column: kernel_ns ns -- sum of their durations
-- column: copy_ns ns -- sum of the durations of the copies launched in it
WITH placed AS (
    SELECT
        process, rank, range_id, tid, kind, depth, path, iteration, start_ns, duration_ns, kernels, kernel_ns,
        copy_ns,
        ROW_NUMBER() OVER (
            PARTITION BY process
            ORDER BY start_ns NULLS FIRST, depth NULLS FIRST, range_id NULLS FIRST
        ) AS place
    FROM ranges
)
SELECT
    rank,
    tid,
    CAST(kind AS VARCHAR) AS kind,
    depth,
    path,
    iteration,
    start_ns,
    duration_ns,
    kernels,
    kernel_ns,
    copy_ns
FROM placed{{ where_place() }}
ORDER BY rank NULLS FIRST, process NULLS FIRST, place NULLS FIRST
