-- title: Recorded metrics
-- about: Values that an analysis database of rocprofiler-compute states: metrics of kernels and of the whole workload, points and ceilings of rooflines, and counts of PC samples by instruction. They are shown as recorded; `metrics` computes its own from counters.
-- kind: trace
-- needs: recorded_metrics kernel_symbols
-- param: of word = all [all, kernels, workload] -- values of kernels, of the whole workload, or both
-- param: missing word = hide [hide, show] -- whether metrics without a value are shown
-- param: top int = 0 -- first N rows, 0 = all
-- column: rank id -- rank
-- column: kernel_name name -- kernel, null for the whole workload
-- column: table_name text -- table that the metric is shown in
-- column: sub_table_name text -- its part; the source line for PC samples
-- column: metric_id text -- id of the metric
-- column: metric text -- name of the metric; the instruction for PC samples
-- column: value_name text -- which value of the metric it is
-- column: value number -- value
-- column: unit text -- its unit
SELECT
    r.rank,
    {{ kernel_text('r') }},
    CAST(r.table_name AS VARCHAR) AS table_name,
    CAST(r.sub_table_name AS VARCHAR) AS sub_table_name,
    CAST(r.metric_id AS VARCHAR) AS metric_id,
    CAST(r.metric AS VARCHAR) AS metric,
    CAST(r.value_name AS VARCHAR) AS value_name,
    r.value,
    CAST(r.unit AS VARCHAR) AS unit
FROM recorded_metrics AS r
{{- join_symbols('r') }}
{%- set of_kernels = {'all': [], 'kernels': ['r.kernel_id IS NOT NULL'], 'workload': ['r.kernel_id IS NULL']}[of] %}
{%- set conditions = of_kernels + {'hide': ['r.value IS NOT NULL'], 'show': []}[missing] %}
{%- if conditions %}
WHERE {{ conditions | join(' AND ') }}
{%- endif %}
{{ top_by('r.rank, r.process, r.kernel_id, r.ordinal, CAST(r.value_name AS VARCHAR), r.value') }}
