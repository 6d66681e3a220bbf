-- Arguments.
SELECT a.position AS id, p.guid AS guid, CASE CAST(a.owner AS VARCHAR) WHEN 'kernel' THEN a.owner_id * 4 WHEN 'copy' THEN a.owner_id * 4 + 1 ELSE a.owner_id * 4 + 2 END AS event_id, a.position AS position,
    a.type AS type, a.name AS name, a.value AS value, CAST(NULL AS VARCHAR) AS extdata
FROM args AS a
JOIN processes AS p ON p.process = a.process
