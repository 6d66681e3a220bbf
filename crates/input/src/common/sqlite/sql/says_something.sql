(length({column}) > 0 AND {column} <> '{{}}')
