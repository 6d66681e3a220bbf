({column} IN ({ids})) IS NOT 1
