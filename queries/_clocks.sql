SELECT *
FROM (VALUES {rows}) AS clocks_rows ({names})
