INSERT INTO compute_kernel (kernel_uuid, workload_id, kernel_name, short_name) VALUES (?1, ?2, ?3, ?4)
