-- title: Memory operations that were waited for
-- about: What the waits of thread traces (`rocprofv3 --att`) waited for, most cycles first. A wait for several operations counts in equal parts for each. Where the order of the code does not show what a wait is for, its cycles are in rows without operation, with the reason, so that all rows add up to the waits.
-- kind: summary
-- needs: att_waits att_instructions kernel_symbols
-- param: top int = 0 -- first N rows, 0 = all
-- column: rank id -- rank
-- column: capture name -- file that it was read from
-- column: kernel_name name -- kernel, in the name form that was asked for; null where the file names none
-- column: vaddr id -- address of the operation in the code object
-- column: instruction text -- operation that was waited for
-- column: class text -- what it is for
-- column: source_file text -- file of its source line
-- column: source_line id -- that line
-- column: counter text -- counter that was waited for
-- column: reason text -- why the operation is not known: other_path (issued before a place that is branched to), any_order (operations that finish in any order), nothing_under_way, other_reason, unknown_branch
-- column: waits count -- waits that waited for it
-- column: stall_cycles count -- cycles of stall in them; null in files without stall
-- column: latency_cycles count -- cycles of latency in them
-- column: wait_pct pct -- share of the cycles that waits of the kernel took, of stall, without recorded stall of latency
-- column: cycles_per_hit number -- these cycles for each time the operation was issued
-- column: operation_ordinal id -- position of the operation in the file
-- column: process id -- process of the capture
WITH parts AS (
    SELECT
        w.process,
        COALESCE(w.kernel_id, -1) AS of_kernel,
        w.operation_ordinal,
        {{ texts('counter, reason', 'w') }},
        MIN(w.wait_ordinal) AS first_ordinal,
        CAST(COUNT(*) AS BIGINT) AS waits,
        CAST(CASE WHEN COUNT(w.stall_cycles) > 0 THEN SUM(w.stall_cycles) END AS BIGINT) AS stall_cycles,
        CAST(SUM(w.latency_cycles) AS BIGINT) AS latency_cycles
    FROM att_waits AS w
    GROUP BY w.process, COALESCE(w.kernel_id, -1), w.operation_ordinal, CAST(w.counter AS VARCHAR), CAST(w.reason AS VARCHAR)
),
shared AS (
    SELECT
        process, operation_ordinal, counter, reason, first_ordinal, waits, stall_cycles, latency_cycles,
        COALESCE(operation_ordinal, first_ordinal) AS shown_ordinal,
        COALESCE(stall_cycles, latency_cycles) AS cost_cycles,
        CAST(SUM(COALESCE(stall_cycles, latency_cycles)) OVER (PARTITION BY process, of_kernel) AS DOUBLE) AS all_cycles
    FROM parts
)
SELECT
    a.rank,
    CAST(a.capture AS VARCHAR) AS capture,
    {{ kernel_text('a') }},
    CASE WHEN w.operation_ordinal IS NOT NULL THEN a.vaddr END AS vaddr,
    CASE WHEN w.operation_ordinal IS NOT NULL THEN a.instruction END AS instruction,
    CASE WHEN w.operation_ordinal IS NOT NULL THEN CAST(a.class AS VARCHAR) END AS class,
    CASE WHEN w.operation_ordinal IS NOT NULL THEN CAST(a.source_file AS VARCHAR) END AS source_file,
    CASE WHEN w.operation_ordinal IS NOT NULL THEN a.source_line END AS source_line,
    w.counter,
    w.reason,
    w.waits,
    w.stall_cycles,
    w.latency_cycles,
    CAST(100 AS DOUBLE) * CAST(w.cost_cycles AS DOUBLE) / NULLIF(w.all_cycles, CAST(0 AS DOUBLE)) AS wait_pct,
    CASE
        WHEN w.operation_ordinal IS NOT NULL THEN {{ ratio('w.cost_cycles', 'a.hitcount') }}
    END AS cycles_per_hit,
    w.operation_ordinal,
    w.process
FROM shared AS w
JOIN att_instructions AS a ON a.process = w.process AND a.ordinal = w.shown_ordinal{{ join_symbols('a') }}
{{ top_by('w.cost_cycles DESC, w.process, w.operation_ordinal, w.first_ordinal, w.counter, w.reason') }}
