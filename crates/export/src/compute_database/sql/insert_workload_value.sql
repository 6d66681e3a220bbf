INSERT INTO compute_workload_metric_value (metric_uuid, workload_id, value_name, value) VALUES (?1, ?2, ?3, ?4)
