SELECT 1 FROM {dispatches} WHERE event_id = (SELECT event_id FROM {values} {condition} ORDER BY id LIMIT 1) LIMIT 1
