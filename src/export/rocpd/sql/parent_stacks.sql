INSERT OR IGNORE INTO temp.launching_stack
SELECT parent_stack_id FROM source.{event}
WHERE stack_id IN (SELECT id FROM temp.launching_stack) AND parent_stack_id <> 0
