SELECT 1 FROM {dispatches} WHERE event_id IN (SELECT event_id FROM {values} {condition}) LIMIT 1
