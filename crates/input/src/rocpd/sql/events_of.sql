id IN (SELECT event_id FROM {table} WHERE {condition})
