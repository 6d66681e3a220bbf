-- title: Operators
-- about: Every operator of PyTorch and every call of a module, with the work launched in it, in order of start.
-- kind: trace
-- needs: operators
-- by:
-- dimensions:
-- param: top int = 0 -- first N of each process, 0 = all
-- column: rank id -- rank
-- column: tid id -- thread
-- column: kind text -- operator, or module
-- column: depth count -- those of its kind that it lies in
-- column: name text -- name
-- column: operator_id id -- its `region_id` in `regions` and `owner_id` in `args`, which has shapes and types of its inputs
-- column: start_ns ns -- start on the source's clock
-- column: duration_ns ns -- time on the host
-- column: self_ns ns -- the same without those of its kind in it
-- column: kernels count -- kernels launched in it, in those in it too
-- column: kernel_ns ns -- sum of their durations
-- column: copy_ns ns -- sum of the durations of the copies launched in it
WITH placed AS (
    SELECT
        process, rank, operator_id, tid, kind, depth, name, start_ns, duration_ns, self_ns, kernels, kernel_ns, copy_ns,
        ROW_NUMBER() OVER (
            PARTITION BY process
            ORDER BY start_ns NULLS FIRST, depth NULLS FIRST, operator_id NULLS FIRST
        ) AS place
    FROM operators
)
SELECT
    rank,
    tid,
    CAST(kind AS VARCHAR) AS kind,
    depth,
    CAST(name AS VARCHAR) AS name,
    operator_id,
    start_ns,
    duration_ns,
    self_ns,
    kernels,
    kernel_ns,
    copy_ns
FROM placed{{ where_place() }}
ORDER BY rank NULLS FIRST, process NULLS FIRST, place NULLS FIRST
