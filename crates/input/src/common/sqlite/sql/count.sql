SELECT count(*) FROM {table} {condition}
