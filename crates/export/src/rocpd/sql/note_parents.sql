SELECT count(keep(parent_stack_id, {mark}, parent_stack_id))
FROM source.{event}
WHERE parent_stack_id <> stack_id AND {launching}
