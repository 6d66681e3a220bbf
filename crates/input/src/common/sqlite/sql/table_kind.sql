SELECT (SELECT max(wr) FROM pragma_table_list(?1) WHERE schema = 'main'),
       (SELECT count(*) FROM pragma_index_list(?1) WHERE origin = 'pk')
