INSERT INTO compute_pc_sample_state (pc_sample_state_uuid, instruction_uuid, total_count, issue_count, stall_count)
VALUES (?1, ?1, ?2, ?3, ?4)
