{column} IN ({ids})
