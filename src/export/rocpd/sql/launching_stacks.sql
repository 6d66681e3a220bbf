INSERT OR IGNORE INTO temp.launching_stack
SELECT event.stack_id
FROM main.{table} AS work JOIN source.{event} AS event ON event.id = work.event_id
WHERE event.stack_id <> 0
