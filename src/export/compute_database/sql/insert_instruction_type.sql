INSERT INTO compute_instruction_sample_type (instruction_sample_type_uuid, text) VALUES (?1, ?2)
