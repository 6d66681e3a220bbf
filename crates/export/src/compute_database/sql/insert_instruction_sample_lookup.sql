INSERT INTO compute_instruction_sample_lookup (instruction_sample_lookup_uuid, text) VALUES (?1, ?2)
