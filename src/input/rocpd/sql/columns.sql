SELECT id{columns} FROM {table} {condition}
