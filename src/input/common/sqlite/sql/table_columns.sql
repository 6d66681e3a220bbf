SELECT name, upper(type) FROM pragma_table_info(?1)
