SELECT IFNULL(CAST(id AS INTEGER), 0), {columns} FROM regions ORDER BY start, "end", id
