WITH sampled AS (
    SELECT
        p.rank, r.pid, p.code_object_id, o.load_base, p.code_object_offset,
        CAST(k.kernel_name AS VARCHAR) AS kernel_name,
        CAST(p.instruction AS VARCHAR) AS instruction,
        CAST(p.comment AS VARCHAR) AS comment,
        REPLACE(CAST(p.stall_reason AS VARCHAR), 'ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_', '') AS stall_reason,
        REPLACE(CAST(p.instruction_type AS VARCHAR), 'ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_', '') AS instruction_type,
        CASE WHEN p.wave_issued IS NULL THEN NULL WHEN p.wave_issued THEN 1 ELSE 0 END AS issued
    FROM pc_samples AS p
    JOIN processes AS r ON r.process = p.process
    LEFT JOIN kernels AS k ON k.process = p.process AND k.dispatch_id = p.dispatch_id
    LEFT JOIN code_objects AS o ON o.process = p.process AND o.code_object_id = p.code_object_id
)
SELECT
    rank, pid, code_object_id, load_base, code_object_offset, kernel_name, instruction, comment, stall_reason, instruction_type,
    issued, CAST(COUNT(*) AS BIGINT) AS samples
FROM sampled
GROUP BY
    rank, pid, code_object_id, load_base, code_object_offset, kernel_name, instruction, comment, stall_reason, instruction_type,
    issued
ORDER BY
    rank, pid NULLS FIRST, code_object_id NULLS FIRST, code_object_offset NULLS FIRST, kernel_name NULLS FIRST,
    instruction NULLS FIRST, comment NULLS FIRST, stall_reason NULLS FIRST, instruction_type NULLS FIRST, issued NULLS FIRST,
    load_base NULLS FIRST
