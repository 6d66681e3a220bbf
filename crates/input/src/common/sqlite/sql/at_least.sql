(typeof({column}) = 'integer' AND {column} < {least}) IS NOT 1
