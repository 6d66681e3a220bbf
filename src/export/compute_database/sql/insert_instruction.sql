INSERT INTO compute_instruction_line
    (instruction_uuid, code_object_uuid, kernel_uuid, code_object_offset, comment, instruction)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
