-- title: Parts of the run
-- about: Setup, warm-up, steady part (or dense work if nothing repeats), pauses and tail of the run of every process.
-- kind: pace
-- needs: run_parts
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: part id -- place in the run
-- column: kind text -- what it is: set_up, warmup, prefill, decode, steady, dense, uneven, pause, cooldown or tail
-- column: start_ns ns -- start on the source's clock
-- column: duration_ns ns -- how long it takes
-- column: pct pct -- its share of the time from the first to the last work on a GPU
-- column: unit text -- unit of its iterations: step, replay, iteration or repetition; layer or range if `--unit` chose these
-- column: found_by text -- evidence for it: range, server_marker, tokens, graph_replay or kernel_sequence
-- column: iterations count -- iterations in it
-- column: first_iteration id -- the first of them
-- column: last_iteration id -- the last of them
-- column: pause_ns ns -- what of its time lies between its iterations
-- column: mean_ns ns -- its time by iteration
-- column: layers count -- layers in its iterations
WITH whole AS (
    SELECT process, CAST(SUM(duration_ns) AS BIGINT) AS whole_ns
    FROM run_parts
    GROUP BY process
)
SELECT
    p.rank,
    p.part,
    CAST(p.kind AS VARCHAR) AS kind,
    p.start_ns,
    p.duration_ns,
    {{ percent('p.duration_ns', 'w.whole_ns') }} AS pct,
    CAST(p.unit AS VARCHAR) AS unit,
    CAST(p.found_by AS VARCHAR) AS found_by,
    p.iterations,
    p.first_iteration,
    p.last_iteration,
    p.pause_ns,
    {{ ratio('p.duration_ns', 'p.iterations') }} AS mean_ns,
    p.layers
FROM run_parts AS p
JOIN whole AS w ON w.process = p.process
ORDER BY p.rank NULLS FIRST, p.process NULLS FIRST, p.part NULLS FIRST
