INSERT INTO compute_pc_sample_stall_reason (pc_sample_state_uuid, pc_sample_stall_reason_lookup_uuid, count) VALUES (?1, ?2, ?3)
