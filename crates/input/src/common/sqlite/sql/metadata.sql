SELECT tag, value FROM {table} ORDER BY id
