-- Views of DuckDB over this dataset. Run it in the folder of the dataset (`duckdb -init views.sql`), or name the folder first:
-- SET GLOBAL file_search_path = '/path/to/dataset';
{% for view in views %}
-- {{ view.about }}
CREATE OR REPLACE VIEW {{ view.name }} AS SELECT * FROM read_parquet('
{%- if view.has_rows %}{{ view.name }}/*.parquet{% else %}{{ view.schemas }}/{{ view.name }}.parquet{% endif %}');
{% endfor %}
-- Whole numbers, which the queries count with.
CREATE OR REPLACE VIEW {{ numbers.name }} AS SELECT * FROM read_parquet('{{ numbers.file }}');
