SELECT id, tid, "start", "end", coalesce(event_id IN (SELECT id FROM temp.launching_event), 0)
FROM source.{table} ORDER BY pid, tid, "start", "end" DESC, id
