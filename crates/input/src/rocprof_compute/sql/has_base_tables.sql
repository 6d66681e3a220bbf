SELECT 1 FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd\_%' ESCAPE '\' LIMIT 1
