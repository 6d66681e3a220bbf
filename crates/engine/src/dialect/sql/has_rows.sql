SELECT COUNT(*) > 0 AS is_there FROM (SELECT 1) AS rows
