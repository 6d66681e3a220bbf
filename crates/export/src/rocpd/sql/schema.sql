SELECT type, name, tbl_name, sql FROM source.sqlite_master WHERE sql IS NOT NULL ORDER BY rowid
