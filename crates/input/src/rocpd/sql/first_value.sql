SELECT event_id FROM {values} {condition} LIMIT 1
