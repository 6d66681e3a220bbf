INSERT INTO compute_kernel_metric_value (metric_uuid, kernel_uuid, value_name, value) VALUES (?1, ?2, ?3, ?4)
