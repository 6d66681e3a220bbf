-- title: Iterations and ranges
-- about: How the iterations found in the kernels compare with the ROCTx ranges that repeat, which are in them by the work launched in them: the paths whose number fits best first.
-- kind: summary
-- needs: iterations ranges
-- by:
-- dimensions:
-- param: depth int = 3 -- ranges that lie in more ranges than these are left out
-- param: top int = 5 -- first N paths of each process, 0 = all
-- column: rank id -- rank
-- column: tid id -- thread; none for ranges of the process
-- column: path text -- messages from the outermost range to this one
-- column: ranges count -- ranges of this path in which kernels were launched
-- column: iterations count -- iterations found in the kernels
-- column: ranges_per_iteration number -- of ranges of this path; 1 where they are the same thing
-- column: kernels_per_range number -- median of the kernels launched in one
-- column: period count -- usual number of kernels of an iteration
-- column: pace_ns ns -- median time from one range to the next
-- column: iteration_ns ns -- median of the iterations
WITH repeated AS (
    SELECT
        process,
        CASE WHEN kind = 'thread' THEN tid END AS tid,
        path,
        CAST(kernels AS DOUBLE) AS kernels,
        CAST(start_ns - LAG(start_ns) OVER (
            PARTITION BY process, kind, CASE WHEN kind = 'thread' THEN tid END, path
            ORDER BY iteration NULLS FIRST
        ) AS DOUBLE) AS pace
    FROM ranges
    WHERE kernels > 0 AND depth <= {{ depth }}
),
paths AS (
    SELECT
        process, tid, path,
        CAST(COUNT(*) AS BIGINT) AS ranges,
        MEDIAN(kernels) AS kernels_per_range,
        MEDIAN(pace) AS pace_ns
    FROM repeated
    GROUP BY process, tid, path
),
found AS (
    SELECT
        process, rank,
        CAST(COUNT(*) AS BIGINT) AS iterations,
        MAX(period) AS period,
        MEDIAN(CAST(duration_ns AS DOUBLE)) AS iteration_ns
    FROM iterations
    GROUP BY process, rank
),
compared AS (
    SELECT
        f.process, f.rank, p.tid, p.path, p.ranges, f.iterations,
        CAST(p.ranges AS DOUBLE) / CAST(f.iterations AS DOUBLE) AS ranges_per_iteration,
        p.kernels_per_range, f.period, p.pace_ns, f.iteration_ns
    FROM found AS f
    JOIN paths AS p ON p.process = f.process
    WHERE p.ranges > 1
),
placed AS (
    SELECT
        process, rank, tid, path, ranges, iterations, ranges_per_iteration, kernels_per_range, period,
        pace_ns, iteration_ns,
        ROW_NUMBER() OVER (
            PARTITION BY process
            ORDER BY
                ABS(ranges - iterations) NULLS LAST,
                -kernels_per_range NULLS LAST,
                path NULLS LAST,
                tid NULLS LAST
        ) AS place
    FROM compared
)
SELECT
    rank,
    tid,
    path,
    ranges,
    iterations,
    ranges_per_iteration,
    kernels_per_range,
    period,
    pace_ns,
    iteration_ns
FROM placed{{ where_place() }}
ORDER BY rank NULLS FIRST, process NULLS FIRST, place NULLS FIRST
