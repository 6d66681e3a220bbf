SELECT min(id), max(id) FROM {table}
