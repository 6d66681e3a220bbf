SELECT id, "start", "end" FROM {table} WHERE id IN (SELECT min(id) FROM {table} UNION SELECT max(id) FROM {table}) ORDER BY id
