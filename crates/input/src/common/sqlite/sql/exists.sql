SELECT 1 FROM {table} {condition} LIMIT 1
