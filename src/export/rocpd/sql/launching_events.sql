INSERT OR IGNORE INTO temp.launching_event
SELECT id FROM source.{event} WHERE stack_id IN (SELECT id FROM temp.launching_stack)
