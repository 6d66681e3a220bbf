(typeof({column}) = 'integer' AND {column} > {most}) IS NOT 1
