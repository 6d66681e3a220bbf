LEFT JOIN (SELECT id AS launching_event, stack_id AS launching_stack FROM source.{event})
ON launching_event = event_id
