-- title: PC sampling hotspots
-- about: PC samples by kernel, instruction and stall reason, most samples first. Host-trap samples have no issue state and no stall reason: these columns are null. The stall reason of an issued instruction has no meaning and is omitted.
-- kind: summary
-- needs: pc_samples kernels kernel_symbols processes
-- by: kernel_name, instruction, stall_reason
-- dimensions: kernel_name, instruction, source, stall_reason, instruction_type, wave_issued, rank, process, node, hostname, dispatch_id, code_object_id, code_object_offset, gpu, xcc, shader_engine, cu, simd
-- param: top int = 0 -- first N rows, 0 = all
-- column: kernel_name name -- kernel, in the name form that was asked for; null where the dispatch is not known
-- column: instruction text -- instruction with its operands
-- column: stall_reason text -- why the wavefront did not issue; null where it did, or where that was not sampled
-- column: samples count -- samples
-- column: pct pct -- share of all samples
-- column: issued count -- samples whose instruction was issued; null by host traps
-- column: stalled count -- samples whose instruction was not issued; null by host traps
-- column: issued_pct pct -- share of issued among the samples that record it
WITH sampled AS (
    SELECT
        {%- for column in by %}
        {%- if column == 'kernel_name' %}
        {{ kernel_text('k') }},
        {%- elif column == 'source' %}
        p.comment AS source,
        {%- elif column == 'stall_reason' %}
        CASE
            WHEN p.wave_issued THEN NULL
            ELSE REPLACE(CAST(p.stall_reason AS VARCHAR), 'ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_', '')
        END AS stall_reason,
        {%- elif column == 'instruction_type' %}
        REPLACE(CAST(p.instruction_type AS VARCHAR), 'ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_', '') AS instruction_type,
        {%- elif column == 'gpu' %}
        k.gpu,
        {%- elif column in ['node', 'hostname'] %}
        r.{{ column }},
        {%- else %}
        p.{{ column }},
        {%- endif %}
        {%- endfor %}
        CASE WHEN p.wave_issued IS NULL THEN NULL WHEN p.wave_issued THEN 1 ELSE 0 END AS was_issued
    FROM pc_samples AS p
    {%- if 'kernel_name' in by or 'gpu' in by %}
    LEFT JOIN kernels AS k ON k.process = p.process AND k.dispatch_id = p.dispatch_id
    {%- endif %}{{ join_symbols('k', 'kernel_name' in by) }}
    {%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS r ON r.process = p.process
    {%- endif %}
),
summed AS (
    SELECT
        {{ keys }}CAST(COUNT(*) AS BIGINT) AS samples,
        CAST(CASE WHEN COUNT(was_issued) > 0 THEN SUM(was_issued) END AS BIGINT) AS issued,
        CAST(COUNT(was_issued) AS BIGINT) AS telling
    FROM sampled
    {%- if by %}
    GROUP BY {{ by | join(', ') }}
    {%- endif %}
),
shared AS (
    SELECT
        {{ keys }}samples, issued, telling,
        CAST(SUM(samples) OVER () AS DOUBLE) AS all_samples
    FROM summed
)
SELECT
    {{ keys }}samples,
    CAST(100 AS DOUBLE) * CAST(samples AS DOUBLE) / all_samples AS pct,
    issued,
    telling - issued AS stalled,
    {{ percent('issued', 'telling') }} AS issued_pct
FROM shared
WHERE samples > 0
ORDER BY
    samples DESC NULLS LAST
    {%- for column in by %},
    {{ column }} NULLS FIRST
    {%- endfor %}
{%- if top > 0 %}
LIMIT {{ top }}
{%- endif %}
