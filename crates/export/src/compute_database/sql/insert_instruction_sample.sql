INSERT INTO compute_instruction_sample (pc_sample_state_uuid, instruction_sample_lookup_uuid, count) VALUES (?1, ?2, ?3)
