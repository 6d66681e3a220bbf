SELECT {items} FROM (SELECT 1) AS literals({names})
