INSERT INTO compute_source_line (source_line_uuid, source_file_uuid, line_number) VALUES (?1, ?2, ?3)
