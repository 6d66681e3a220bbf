INSERT INTO compute_pc_sample_stall_reason_type (pc_sample_stall_reason_type_uuid, text) VALUES (?1, ?2)
