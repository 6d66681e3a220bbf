INSERT OR IGNORE INTO temp.enclosing_region VALUES (?1)
