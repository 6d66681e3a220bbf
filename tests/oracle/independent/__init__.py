"""Every named query worked out anew from source rows in plain Python, by family.

A module of a family has `QUERIES`: the name of a query and its `Case`. Its functions know the meaning of each column from
docs/queries.md and docs/tables.md; they read neither SQL nor tables that the program derived.
"""
