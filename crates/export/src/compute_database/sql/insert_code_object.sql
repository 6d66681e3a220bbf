INSERT INTO compute_code_object_store (code_object_uuid, workload_id, pid, code_object_id, load_base) VALUES (?1, ?2, ?3, ?4, ?5)
