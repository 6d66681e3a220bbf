-- Marks.
SELECT -m.mark_id - 1 AS id, p.guid AS guid, CAST(m.category AS VARCHAR) AS track_id, m.time_ns AS timestamp, -m.mark_id - 1 AS event_id,
    CAST(NULL AS VARCHAR) AS extdata
FROM marks AS m
JOIN processes AS p ON p.process = m.process
