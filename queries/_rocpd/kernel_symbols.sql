-- Kernel symbols.
SELECT s.kernel_id AS id, p.guid AS guid, p.node AS nid, p.pid AS pid, s.code_object_id AS code_object_id,
    s.mangled_name || '.kd' AS kernel_name, s.kernel_name AS display_name, CAST(NULL AS BIGINT) AS kernel_object,
    CAST(NULL AS BIGINT) AS kernarg_segment_size, CAST(NULL AS BIGINT) AS kernarg_segment_alignment,
    s.lds_static_bytes AS group_segment_size, s.scratch_static_bytes AS private_segment_size, s.sgpr AS sgpr_count,
    s.vgpr AS arch_vgpr_count, s.accum_vgpr AS accum_vgpr_count, CAST(NULL AS BIGINT) AS kernel_symbol_size,
    s.kernel_id AS kernel_id, CAST(NULL AS BIGINT) AS kernel_code_entry_byte_offset, s.kernel_name AS formatted_kernel_name,
    s.kernel_name AS demangled_kernel_name, s.short_name AS truncated_kernel_name, CAST(NULL AS BIGINT) AS kernel_address
FROM kernel_symbols AS s
JOIN processes AS p ON p.process = s.process
