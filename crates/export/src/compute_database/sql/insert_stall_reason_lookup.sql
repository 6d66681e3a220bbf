INSERT INTO compute_pc_sample_stall_reason_lookup (pc_sample_stall_reason_lookup_uuid, text) VALUES (?1, ?2)
