(track_id IN (SELECT id FROM {track} WHERE pid IN ({pids}) OR (pid IS NULL AND {first})))
