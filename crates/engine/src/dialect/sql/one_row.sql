SELECT 1 FROM (VALUES (1)) AS "(one row)"("(one)")
