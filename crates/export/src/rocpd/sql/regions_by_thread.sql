SELECT id, tid, "start", "end", {launching}
FROM source.{table} {join} ORDER BY pid, tid, "start", "end" DESC, id
