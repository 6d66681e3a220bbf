-- title: Units of work
-- about: The unit of work of every process, by which evidence it was found and how sure that is, and other units that the trace offers: `--unit` with `option` chooses them.
-- kind: summary
-- needs: units
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: process id -- process
-- column: unit text -- step, replay, iteration, layer or range
-- column: name text -- text of the ranges, with * for a number at its end
-- column: found_by text -- evidence: range, server_marker, tokens, graph_replay or kernel_sequence
-- column: count count -- units
-- column: median_ns ns -- median of their durations, the lower one of two
-- column: covered_pct pct -- share of the kernel time of the process that is in them
-- column: confidence text -- how sure they are: high, medium or low
-- column: is_chosen count -- 1 if iterations, layers and parts of the run are of this unit, otherwise 0
-- column: option text -- value of --unit that chooses it
SELECT
    rank,
    process,
    CAST(unit AS VARCHAR) AS unit,
    name,
    CAST(found_by AS VARCHAR) AS found_by,
    count,
    median_ns,
    {{ percent('kernel_ns', 'all_kernel_ns') }} AS covered_pct,
    CAST(confidence AS VARCHAR) AS confidence,
    CAST(CASE WHEN is_chosen THEN 1 ELSE 0 END AS BIGINT) AS is_chosen,
    option
FROM units
ORDER BY rank NULLS FIRST, process NULLS FIRST, place NULLS FIRST
