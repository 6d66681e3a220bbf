INSERT INTO compute_instruction_line (instruction_uuid, kernel_symbol_uuid, code_object_offset, instruction) VALUES (?1, ?2, ?3, ?4)
