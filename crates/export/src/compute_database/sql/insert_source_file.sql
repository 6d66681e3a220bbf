INSERT INTO compute_source_file (source_file_uuid, workload_id, file_path) VALUES (?1, ?2, ?3)
