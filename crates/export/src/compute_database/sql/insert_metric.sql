INSERT INTO compute_metric_definition (metric_uuid, workload_id, name, metric_id, table_name, unit)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
