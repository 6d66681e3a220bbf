INSERT INTO compute_dispatch (kernel_uuid, dispatch_id, gpu_id, start_timestamp, end_timestamp) VALUES (?1, ?2, ?3, ?4, ?5)
