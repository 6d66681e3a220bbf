INSERT OR IGNORE INTO temp.kept_event SELECT event_id FROM main.{table} WHERE event_id IS NOT NULL
