INSERT INTO compute_instruction_source_line (instruction_uuid, source_line_uuid, frame_index) VALUES (?1, ?2, ?3)
