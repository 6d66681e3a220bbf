SELECT min({key}), max({key}) FROM {table}
