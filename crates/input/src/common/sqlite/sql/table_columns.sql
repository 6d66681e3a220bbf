SELECT cid, name, upper(type), coalesce(dflt_value, 'NULL') <> 'NULL', pk, hidden, "notnull" FROM pragma_table_xinfo(?1)
