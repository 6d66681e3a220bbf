INSERT INTO compute_metadata (compute_version, schema_version) VALUES (?1, ?2)
