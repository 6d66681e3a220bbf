SELECT {key}{columns} FROM {table} {condition}
