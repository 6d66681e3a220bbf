SELECT {list} FROM {table} {order}
