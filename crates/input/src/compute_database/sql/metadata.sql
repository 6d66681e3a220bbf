SELECT schema_version, compute_version FROM compute_metadata ORDER BY rowid LIMIT 1
