-- Tables of DataFusion over this dataset. Run it in the folder of the dataset (`datafusion-cli -f views.datafusion.sql`).
{% for view in views %}
-- {{ view.about }}
CREATE EXTERNAL TABLE IF NOT EXISTS {{ view.name }} STORED AS PARQUET LOCATION '
{%- if view.has_rows %}{{ view.name }}/{% else %}{{ view.schemas }}/{{ view.name }}.parquet{% endif %}';
{% endfor %}
-- Whole numbers, which the queries count with.
CREATE EXTERNAL TABLE IF NOT EXISTS {{ numbers.name }} STORED AS PARQUET LOCATION '{{ numbers.file }}';
