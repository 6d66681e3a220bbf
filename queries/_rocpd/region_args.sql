-- Arguments of calls.
SELECT a.owner_id AS id, p.guid AS guid, p.node AS nid, p.pid AS pid, a.type AS type, a.name AS name, a.value AS value
FROM args AS a
JOIN processes AS p ON p.process = a.process
WHERE a.owner = 'region'
