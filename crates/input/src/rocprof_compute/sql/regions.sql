SELECT {columns} FROM regions ORDER BY start, "end", id
