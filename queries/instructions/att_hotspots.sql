-- title: Instructions that stall most
-- about: Instructions of thread traces (`rocprofv3 --att`) that ran, most stall cycles first; without recorded stall, most latency first. Shares are those of the kernel in its capture, of sums of cycles.
-- kind: summary
-- needs: att_instructions kernel_symbols
-- param: least_pct float = 0 [0, 100] -- only instructions with this share of the stall of their kernel, without recorded stall of its latency
-- param: top int = 0 -- first N rows, 0 = all
-- column: rank id -- rank
-- column: capture name -- file that it was read from
-- column: dispatch_id id -- dispatch that was traced
-- column: kernel_name name -- kernel, in the name form that was asked for; null where the file names none
-- column: vaddr id -- address in the code object
-- column: instruction text -- instruction with its operands
-- column: class text -- what it is for
-- column: source_file text -- file of its source line
-- column: source_line id -- that line
-- column: hitcount count -- how often wavefronts issued it
-- column: latency_cycles count -- cycles of latency, stalls included
-- column: stall_cycles count -- cycles of stall
-- column: idle_cycles count -- idle cycles before it
-- column: stall_pct pct -- share of the stall of the kernel
-- column: latency_pct pct -- share of the latency of the kernel
-- column: stalled_pct pct -- part of its own latency that is stall
-- column: latency_per_hit number -- mean latency in cycles
-- column: ordinal id -- position in the file
-- column: process id -- process of the capture
WITH ran AS (
    SELECT
        a.rank,
        CAST(a.capture AS VARCHAR) AS capture,
        a.dispatch_id,
        {{ kernel_text('a') }},
        a.vaddr, a.instruction,
        {{ texts('class, source_file', 'a') }},
        a.source_line, a.hitcount, a.latency_cycles, a.stall_cycles, a.idle_cycles, a.ordinal, a.process,
        COALESCE(a.kernel_id, -1) AS of_kernel,
        COALESCE(a.stall_cycles, a.latency_cycles) AS cost_cycles
    FROM att_instructions AS a{{ join_symbols('a') }}
    WHERE a.hitcount > 0
),
shared AS (
    SELECT
        rank, capture, dispatch_id, kernel_name, vaddr, instruction, class, source_file, source_line,
        hitcount, latency_cycles, stall_cycles, idle_cycles, ordinal, process, cost_cycles,
        CAST(SUM(stall_cycles) OVER (PARTITION BY process, of_kernel) AS DOUBLE) AS all_stall,
        CAST(SUM(latency_cycles) OVER (PARTITION BY process, of_kernel) AS DOUBLE) AS all_latency,
        CAST(SUM(cost_cycles) OVER (PARTITION BY process, of_kernel) AS DOUBLE) AS all_cost
    FROM ran
)
SELECT
    rank,
    capture,
    dispatch_id,
    kernel_name,
    vaddr,
    instruction,
    class,
    source_file,
    source_line,
    hitcount,
    latency_cycles,
    stall_cycles,
    idle_cycles,
    CAST(100 AS DOUBLE) * CAST(stall_cycles AS DOUBLE) / NULLIF(all_stall, CAST(0 AS DOUBLE)) AS stall_pct,
    CAST(100 AS DOUBLE) * CAST(latency_cycles AS DOUBLE) / NULLIF(all_latency, CAST(0 AS DOUBLE)) AS latency_pct,
    {{ percent('stall_cycles', 'latency_cycles') }} AS stalled_pct,
    CAST(latency_cycles AS DOUBLE) / CAST(hitcount AS DOUBLE) AS latency_per_hit,
    ordinal,
    process
FROM shared
WHERE CAST(100 AS DOUBLE) * CAST(cost_cycles AS DOUBLE) >= CAST({{ least_pct }} AS DOUBLE) * all_cost
ORDER BY cost_cycles DESC NULLS LAST, latency_cycles DESC NULLS LAST, process NULLS LAST, ordinal NULLS LAST
{%- if top > 0 %}
LIMIT {{ top }}
{%- endif %}
