SELECT name, dflt_value, hidden FROM pragma_table_xinfo(?1, 'source')
