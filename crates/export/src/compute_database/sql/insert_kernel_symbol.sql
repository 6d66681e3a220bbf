INSERT INTO compute_kernel_symbol (kernel_symbol_uuid, code_object_uuid, kernel_uuid) VALUES (?1, ?2, ?3)
