-- Facts about the files.
SELECT p.process * 2 + 1 AS id, 'guid' AS tag, p.guid AS value FROM processes AS p
UNION ALL
SELECT p.process * 2 + 2 AS id, 'schema_version' AS tag, p.schema_version AS value FROM processes AS p
