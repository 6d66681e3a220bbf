SELECT 1 FROM (SELECT {column} AS value FROM {table} {condition} LIMIT 65536) WHERE value = ? LIMIT 1
