-- title: Instructions by class
-- about: Hits, latency and stall of thread traces (`rocprofv3 --att`) by class of instruction: vector, shared and scalar memory, matrix, vector and scalar arithmetic, branches, waits, barriers. Most stall cycles first; without recorded stall, most latency first.
-- kind: summary
-- plot: ranked label=class value=latency_cycles
-- needs: att_instructions kernel_symbols
-- by: kernel_name
-- dimensions: kernel_name, rank, process, capture, dispatch_id, code_object_id
-- param: top int = 0 -- first N rows of each group, 0 = all
-- column: kernel_name name -- kernel, in the name form that was asked for; null where the file names none
-- column: class text -- what the instructions are for
-- column: instructions count -- instructions, those that never ran included
-- column: ran count -- instructions that ran
-- column: hitcount count -- how often wavefronts issued them
-- column: hit_pct pct -- share of the hits of the group
-- column: latency_cycles count -- cycles of latency, stalls included
-- column: stall_cycles count -- cycles of stall
-- column: idle_cycles count -- idle cycles before them
-- column: stall_pct pct -- share of the stall of the group
-- column: latency_pct pct -- share of the latency of the group
-- column: stalled_pct pct -- part of the latency that is stall, of sums of cycles, where stall is recorded
-- column: latency_per_hit number -- mean latency in cycles, over hits
WITH listed AS (
    SELECT
        {{ keys_of('a', as_text=['capture', 'kernel_name']) }}CAST(a.class AS VARCHAR) AS class,
        a.hitcount, a.latency_cycles, a.stall_cycles, a.idle_cycles
    FROM att_instructions AS a{{ join_symbols('a', 'kernel_name' in by) }}
),
summed AS (
    SELECT
        {{ keys }}class,
        CAST(COUNT(*) AS BIGINT) AS instructions,
        {{ sum_if('hitcount > 0') }} AS ran,
        {{ sums('hitcount, latency_cycles') }},
        CAST(CASE WHEN COUNT(stall_cycles) > 0 THEN SUM(stall_cycles) END AS BIGINT) AS stall_cycles,
        SUM(CASE WHEN stall_cycles IS NOT NULL THEN CAST(latency_cycles AS DOUBLE) END) AS telling_cycles,
        CAST(CASE WHEN COUNT(idle_cycles) > 0 THEN SUM(idle_cycles) END AS BIGINT) AS idle_cycles
    FROM listed
    GROUP BY {{ keys }}class
),
shared AS (
    SELECT
        {{ keys }}class, instructions, ran, hitcount, latency_cycles, stall_cycles, idle_cycles, telling_cycles,
        COALESCE(stall_cycles, latency_cycles) AS cost_cycles,
        -COALESCE(stall_cycles, latency_cycles) AS less_cost,
        -hitcount AS less_hits,
        CAST(SUM(hitcount) OVER ({{ per_group }}) AS DOUBLE) AS all_hits,
        CAST(SUM(latency_cycles) OVER ({{ per_group }}) AS DOUBLE) AS all_latency,
        CAST(SUM(stall_cycles) OVER ({{ per_group }}) AS DOUBLE) AS all_stall
    FROM summed
),
placed AS (
    SELECT
        {{ keys }}class, instructions, ran, hitcount, latency_cycles, stall_cycles, idle_cycles, telling_cycles,
        cost_cycles, all_hits, all_latency, all_stall
        {{- place_by('less_cost, less_hits, class') }}
    FROM shared
)
SELECT
    {{ keys }}class,
    instructions,
    ran,
    hitcount,
    CAST(100 AS DOUBLE) * CAST(hitcount AS DOUBLE) / NULLIF(all_hits, CAST(0 AS DOUBLE)) AS hit_pct,
    latency_cycles,
    stall_cycles,
    idle_cycles,
    CAST(100 AS DOUBLE) * CAST(stall_cycles AS DOUBLE) / NULLIF(all_stall, CAST(0 AS DOUBLE)) AS stall_pct,
    CAST(100 AS DOUBLE) * CAST(latency_cycles AS DOUBLE) / NULLIF(all_latency, CAST(0 AS DOUBLE)) AS latency_pct,
    CAST(100 AS DOUBLE) * CAST(stall_cycles AS DOUBLE) / NULLIF(telling_cycles, CAST(0 AS DOUBLE)) AS stalled_pct,
    {{ ratio('latency_cycles', 'hitcount') }} AS latency_per_hit
FROM placed
{{ top_by('cost_cycles DESC, hitcount DESC, class') }}
