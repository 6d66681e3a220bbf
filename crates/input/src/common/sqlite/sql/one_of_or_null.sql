(typeof({column}) = 'integer' AND {column} NOT IN ({ids})) IS NOT 1
