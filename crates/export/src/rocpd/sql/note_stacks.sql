SELECT count({keep}) FROM main.{table} {join}
