{#- What queries share: every template knows these texts and macros, those of --queries too. A file whose name starts with _ is not a query. -#}

{#- Grouping columns, with a comma each, to stand before others. -#}
{%- set keys = by | join(', ') ~ (', ' if by else '') -%}

{#- Grouping columns of a table, with a comma each. Those of its process need join_processes, kernel_name needs join_symbols. -#}
{%- macro keys_of(table, but=[], as_text=[]) -%}
{%- for column in by if column not in but and column != 'kernel_name' -%}
{%- set of = 'p' if column in ['node', 'hostname'] else table -%}
{{ texts(column, of) if column in as_text else of ~ '.' ~ column }}, {% endfor -%}
{%- if 'kernel_name' in by %}{{ kernel_text(table) if 'kernel_name' in as_text else kernel_name(table) }}, {% endif -%}
{%- endmacro -%}

{#- Grouping columns of a step that has all of them, with a comma each. -#}
{%- macro keys_in(step, but=[]) -%}
{%- for column in by if column not in but %}{{ step }}.{{ column }}, {% endfor -%}
{%- endmacro -%}

{#- Grouping columns but some, with a comma each. -#}
{%- macro keys_but(columns) -%}
{%- for column in by if column not in columns %}{{ column }}, {% endfor -%}
{%- endmacro -%}

{#- Grouping columns and those of some more that are not among them, with a comma each. -#}
{%- macro keys_and(columns) -%}
{{ keys }}{% for column in columns if column not in by %}{{ column }}, {% endfor -%}
{%- endmacro -%}

{#- Grouping columns, with a comma each, and those that are dictionaries as text, as an answer has them. -#}
{%- macro keys_as_text(dictionaries) -%}
{%- for column in by %}{{ texts(column) if column in dictionaries else column }}, {% endfor -%}
{%- endmacro -%}

{#- Joins the process `p` of a table if its node or hostname is a grouping column. -#}
{%- macro join_processes(table) -%}
{%- if 'node' in by or 'hostname' in by %}
    JOIN processes AS p ON p.process = {{ table }}.process
{%- endif -%}
{%- endmacro -%}

{#- Condition of a join, after others, that the grouping columns of two steps are the same, null included. -#}
{%- macro and_same_keys(one, other) -%}
{%- for column in by %}
        AND COALESCE(CAST({{ one }}.{{ column }} AS VARCHAR) || '.', '') = COALESCE(CAST({{ other }}.{{ column }} AS VARCHAR) || '.', '')
{%- endfor -%}
{%- endmacro -%}

{#- Kernel name of a table in the form that was asked for; needs join_symbols. -#}
{%- macro kernel_name(table, alias='kernel_name') -%}
{%- if name == 'base' -%}
COALESCE(CAST(s.base_name AS VARCHAR), CAST({{ table }}.short_name AS VARCHAR)) AS {{ alias }}
{%- elif name == 'mangled' -%}
COALESCE(CAST(s.mangled_name AS VARCHAR), CAST({{ table }}.kernel_name AS VARCHAR)) AS {{ alias }}
{%- elif name == 'short' -%}
{{ table }}.short_name AS {{ alias }}
{%- else -%}
{{ table }}.kernel_name{{ ' AS ' ~ alias if alias != 'kernel_name' }}
{%- endif -%}
{%- endmacro -%}

{#- The same as text, which an answer has, instead of a dictionary, which is quicker to group by. -#}
{%- macro kernel_text(table, alias='kernel_name') -%}
{%- if name in ['full', 'short'] -%}
CAST({{ table }}.{{ 'short_name' if name == 'short' else 'kernel_name' }} AS VARCHAR) AS {{ alias }}
{%- else -%}
{{ kernel_name(table, alias) }}
{%- endif -%}
{%- endmacro -%}

{#- Joins the symbols `s` of a table's kernels if the form of the name is one of theirs. -#}
{%- macro join_symbols(table, wanted=true, forms=['base', 'mangled']) -%}
{%- if wanted and name in forms %}
    LEFT JOIN kernel_symbols AS s ON s.process = {{ table }}.process AND s.kernel_id = {{ table }}.kernel_id
{%- endif -%}
{%- endmacro -%}

{#- Column of kernel_symbols with the form of the name that was asked for. -#}
{%- set symbol_column = {'full': 'kernel_name', 'short': 'short_name', 'base': 'base_name', 'mangled': 'mangled_name'}[name] -%}

{#- Names of kernels, in the form that was asked for, and of other work; needs join_symbols with all forms but `full`. -#}
{%- macro name_or_symbol(column) -%}
{%- if name == 'full' -%}
CAST({{ column }} AS VARCHAR) AS name
{%- else -%}
COALESCE(CAST(s.{{ symbol_column }} AS VARCHAR), CAST({{ column }} AS VARCHAR)) AS name
{%- endif -%}
{%- endmacro -%}

{#- Columns as text, under their names. -#}
{%- macro texts(columns, table='') -%}
{%- for column in columns | split(', ') -%}
CAST({{ table ~ '.' if table }}{{ column }} AS VARCHAR) AS {{ column }}{{ ', ' if not loop.last }}
{%- endfor -%}
{%- endmacro -%}

{#- A column, with a comma, if the answer is to have it; `value` is what it is made of. -#}
{%- macro wanted(column, value='') -%}
{%- if column in columns %} {{ value ~ ' AS ' if value }}{{ column }},{% endif -%}
{%- endmacro -%}

{#- Sums of columns, under their names. -#}
{%- macro sums(columns) -%}
{%- for column in columns | split(', ') -%}
CAST(SUM({{ column }}) AS BIGINT) AS {{ column }}{{ ', ' if not loop.last }}
{%- endfor -%}
{%- endmacro -%}

{#- Sum over the rows that meet a condition; their number without a value. -#}
{%- macro sum_if(condition, value='1') -%}
CAST(SUM(CASE WHEN {{ condition }} THEN {{ value }} ELSE 0 END) AS BIGINT)
{%- endmacro -%}

{#- One whole number over another, null where that is zero. -#}
{%- macro ratio(part, whole) -%}
CAST({{ part }} AS DOUBLE) / NULLIF(CAST({{ whole }} AS DOUBLE), CAST(0 AS DOUBLE))
{%- endmacro -%}

{#- The same in percent. -#}
{%- macro percent(part, whole) -%}
CAST(100 AS DOUBLE) * {{ ratio(part, whole) }}
{%- endmacro -%}

{#- Window over the rows of a group. -#}
{%- set per_group = 'PARTITION BY ' ~ by | join(', ') if by else '' -%}

{#- Columns to order by, nulls last. They are parted at commas, so that none may have one inside. -#}
{%- macro nulls_last(columns) -%}
{{ columns | replace(', ', ' NULLS LAST, ') }} NULLS LAST
{%- endmacro -%}

{#- Order of an answer: by group, then by columns, nulls last. -#}
{%- macro order_by(columns) -%}
ORDER BY
    {%- for column in by %}
    {{ column }} NULLS FIRST,
    {%- endfor %}
    {{ columns | replace(', ', ' NULLS LAST,\n    ') }} NULLS LAST
{%- endmacro -%}

{#- Order of an answer and, with --top, its first rows: of each group those that place_by put first, else of all. -#}
{%- macro top_by(columns) -%}
{%- if top > 0 and by -%}
WHERE place <= {{ top }}
{% endif -%}
{{ order_by(columns) }}
{%- if top > 0 and not by %}
LIMIT {{ top }}
{%- endif -%}
{%- endmacro -%}

{#- The column `place` that top_by takes, after a comma, where it does. -#}
{%- macro place_by(columns) -%}
{%- if top > 0 and by %},
        ROW_NUMBER() OVER (
            {{ per_group }}
            ORDER BY {{ nulls_last(columns) }}
        ) AS place
{%- endif -%}
{%- endmacro -%}

{#- The step `ranked`, after a comma, which puts that column next to those of another step, where top_by takes it. -#}
{%- macro ranked_step(step, columns, order) -%}
{%- if top > 0 and by %},
ranked AS (
    SELECT
        {{ columns }}
        {{- place_by(order) }}
    FROM {{ step }}
)
{%- endif -%}
{%- endmacro -%}

{#- The first rows by a column `place` that is always there. -#}
{%- macro where_place() -%}
{%- if top > 0 %}
WHERE place <= {{ top }}
{%- endif -%}
{%- endmacro -%}

{#- Conditions for what ran during a segment of gpu_segments. -#}
{%- set during = {
    'span': '1 = 1',
    'busy': 'compute > 0 OR comm > 0 OR copies > 0',
    'idle': 'compute = 0 AND comm = 0 AND copies = 0',
    'compute': 'compute > 0',
    'compute_alone': 'compute > 0 AND comm = 0 AND copies = 0',
    'comm': 'comm > 0',
    'exposed_comm': 'comm > 0 AND compute = 0',
    'copy': 'copies > 0',
    'exposed_copy': 'copies > 0 AND compute = 0 AND comm = 0',
    'compute_comm_overlap': 'compute > 0 AND comm > 0',
    'compute_copy_overlap': 'compute > 0 AND copies > 0',
    'comm_copy_overlap': 'comm > 0 AND copies > 0',
    'all_overlap': 'compute > 0 AND comm > 0 AND copies > 0',
} -%}

{#- Length of the union of rows in the order of their starts; `before` is the greatest end of all rows before each. -#}
{%- macro union_time(before, start='start_ns', end='end_ns', length='', unless='') -%}
CAST(SUM(
            CASE
                {%- if unless %}
                WHEN {{ unless }} THEN 0
                {%- endif %}
                WHEN {{ before }} IS NULL OR {{ before }} <= {{ start }} THEN {{ length or end ~ ' - ' ~ start }}
                WHEN {{ before }} < {{ end }} THEN {{ end }} - {{ before }}
                ELSE 0
            END
        ) AS BIGINT)
{%- endmacro -%}

{#- The steps `extents`, `widths` and `grids`: equal bins of each process, from the first start to the last end of the rows of a table
or step. Edges are whole nanoseconds, so that bins add up; there is a parameter `bins`. -#}
{%- macro bin_grids(table, start='start_ns', end='end_ns') -%}
extents AS (
    SELECT process, MIN({{ start }}) AS from_ns, MAX({{ end }}) AS to_ns, 0 * MAX(process) + {{ bins }} AS bin_count
    FROM {{ table }}
    GROUP BY process
),
widths AS (
    SELECT process, from_ns, to_ns, CEIL(CAST(to_ns - from_ns AS DOUBLE) / CAST(bin_count AS DOUBLE)) AS width
    FROM extents
),
grids AS (
    SELECT process, from_ns, to_ns, CASE WHEN width < CAST(1 AS DOUBLE) THEN 1 ELSE CAST(width AS BIGINT) END AS length_ns
    FROM widths
)
{%- endmacro -%}

{#- The step `cells`, with those before it: how much of each bin of `grids` the step `intervals` covers, for each row of the step `lanes`.
Both have the process and the column `lane`; an interval has a start, an end, and `covered_ns`, what of it no earlier one covers. -#}
{%- macro covered_bins(lane) -%}
{%- set order = 'PARTITION BY process, ' ~ lane ~ ' ORDER BY time_ns NULLS FIRST, is_edge NULLS FIRST, bin NULLS FIRST' -%}
edges AS (
    SELECT n
    FROM numbers
    WHERE n < {{ bins + 1 }}
),
places AS (
    SELECT
        u.process, u.{{ lane }},
        e.n AS bin,
        LEAST(g.from_ns + e.n * g.length_ns, g.to_ns) AS time_ns
    FROM lanes AS u
    JOIN grids AS g ON g.process = u.process
    CROSS JOIN edges AS e
    WHERE CASE WHEN e.n = 0 OR (e.n - 1) * g.length_ns < g.to_ns - g.from_ns THEN 1 ELSE 0 END = 1
),
-- Time covered before an edge is that of all intervals before it, less what the last of them has after it.
events AS (
    SELECT process, {{ lane }}, start_ns AS time_ns, 0 AS is_edge, CAST(NULL AS BIGINT) AS bin, covered_ns, end_ns AS covered_end_ns
    FROM intervals
    UNION ALL
    SELECT process, {{ lane }}, time_ns, 1 AS is_edge, bin, 0 AS covered_ns, CAST(NULL AS BIGINT) AS covered_end_ns
    FROM places
),
reached AS (
    SELECT
        process, {{ lane }}, time_ns, is_edge, bin,
        SUM(covered_ns) OVER ({{ order }} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS covered_ns,
        MAX(covered_end_ns) OVER ({{ order }} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS covered_end_ns
    FROM events
),
before_edges AS (
    SELECT
        process, {{ lane }}, bin, time_ns,
        covered_ns - CASE WHEN covered_end_ns > time_ns THEN covered_end_ns - time_ns ELSE 0 END AS covered_ns
    FROM reached
    WHERE is_edge = 1
),
between_edges AS (
    SELECT
        process, {{ lane }},
        bin - 1 AS bin,
        LAG(time_ns) OVER (PARTITION BY process, {{ lane }} ORDER BY bin NULLS FIRST) AS start_ns,
        time_ns AS end_ns,
        covered_ns - LAG(covered_ns) OVER (PARTITION BY process, {{ lane }} ORDER BY bin NULLS FIRST) AS covered_ns
    FROM before_edges
),
cells AS (
    SELECT process, {{ lane }}, bin, start_ns, end_ns, covered_ns
    FROM between_edges
    WHERE bin >= 0
)
{%- endmacro -%}

{#- The step `powers`: bins from a power of two bytes to the next. Bin -2 holds what has no size, bin -1 what is empty. The powers are
whole numbers, the last one cut to the greatest. -#}
{%- macro powers_of_two() -%}
powers AS (
    SELECT
        n - 2 AS bin,
        CASE
            WHEN n = 0 THEN NULL
            WHEN n = 1 THEN 0
            ELSE CAST(POWER(CAST(2 AS DOUBLE), CAST(CASE WHEN n > 1 THEN n - 2 ELSE 0 END AS DOUBLE)) AS BIGINT)
        END AS bin_start_bytes,
        CASE
            WHEN n = 0 THEN NULL
            WHEN n = 64 THEN 9223372036854775807
            ELSE CAST(POWER(CAST(2 AS DOUBLE), CAST(CASE WHEN n > 0 AND n < 64 THEN n - 1 ELSE 0 END AS DOUBLE)) AS BIGINT)
        END AS bin_end_bytes
    FROM numbers
    WHERE n < 65
)
{%- endmacro -%}

{#- The bin of a size by its logarithm, which rounds: it may be one off, see size_bin. -#}
{%- macro size_guess(bytes) -%}
CASE
            WHEN {{ bytes }} IS NULL OR {{ bytes }} < 0 THEN CAST(-2 AS DOUBLE)
            WHEN {{ bytes }} = 0 THEN CAST(-1 AS DOUBLE)
            ELSE FLOOR(LOG2(CAST(NULLIF({{ bytes }}, 0) AS DOUBLE)))
        END
{%- endmacro -%}

{#- The guess as a whole number, to be joined with `powers`. -#}
{%- macro whole_guess() -%}
CAST(CASE WHEN guess > CAST(62 AS DOUBLE) THEN CAST(62 AS DOUBLE) ELSE guess END AS BIGINT)
{%- endmacro -%}

{#- The bin of a size, of rows `g` with a guess joined with `powers AS w` by it: the powers themselves decide. -#}
{%- macro size_bin(bytes) -%}
CASE
            WHEN g.guess < 0 THEN g.guess
            WHEN {{ bytes }} < w.bin_start_bytes THEN g.guess - 1
            WHEN {{ bytes }} >= w.bin_end_bytes AND g.guess < 62 THEN g.guess + 1
            ELSE g.guess
        END
{%- endmacro -%}

{#- Domains of calls that pass messages between processes. -#}
{%- set message_domains = "('mpi', 'ucx', 'shmem', 'openshmem', 'rocshmem')" -%}

{#- A list of texts as SQL has it. -#}
{%- macro text_list(texts) -%}
(
    {%- for text in texts -%}
'{{ text }}'{{ ', ' if not loop.last }}
    {%- endfor -%}
)
{%- endmacro -%}

{#- A recorded value as a whole number, null for addresses and words. -#}
{%- macro whole_number(value) -%}
CASE WHEN {{ value }} LIKE '0x%' THEN NULL ELSE TRY_CAST({{ value }} AS BIGINT) END
{%- endmacro -%}

{#- The same of a value that may be hexadecimal, as addresses are, of at most 15 digits. -#}
{%- macro whole_address(value) -%}
CASE
            WHEN {{ value }} LIKE '0x%' AND (
                LENGTH({{ value }}) > 17 OR LTRIM(SUBSTR(LOWER({{ value }}), 3), '0123456789abcdef') <> ''
            ) THEN NULL
            WHEN {{ value }} LIKE '0x%' THEN
                {%- for digit in range(15) %}
                CASE
                    WHEN LENGTH({{ value }}) > {{ digit + 2 }}
                        THEN (CAST(STRPOS('0123456789abcdef', LOWER(SUBSTR({{ value }}, CAST(LENGTH({{ value }}) AS BIGINT) - {{ digit }}, 1))) AS BIGINT) - 1) * {{ 16 ** digit }}
                    ELSE 0
                END{{ ' +' if not loop.last }}
                {%- endfor %}
            ELSE TRY_CAST({{ value }} AS BIGINT)
        END
{%- endmacro -%}

{#- The steps `driver_values` and `agent_numbers`: details of a step with events of the kernel driver by the names that rocprofv3 gives
them, and agents by the numbers that these have in them. rocprofiler-systems counts agents from 0, under names without _id. -#}
{%- macro driver_details(events, names, agents) -%}
driver_values AS (
    SELECT
        a.process, a.owner_id AS region_id,
        {%- for agent in agents %}
        MAX(CASE WHEN CAST(a.name AS VARCHAR) = '{{ agent }}_id' THEN 'id' WHEN CAST(a.name AS VARCHAR) = '{{ agent }}' THEN 'place' END) AS {{ agent }}_kind,
        MAX(CASE WHEN CAST(a.name AS VARCHAR) IN ('{{ agent }}_id', '{{ agent }}') THEN {{ whole_number('a.value') }} END) AS {{ agent }},
        {%- endfor %}
        {%- for name in names %}
        MAX(CASE WHEN CAST(a.name AS VARCHAR) = '{{ name }}' THEN a.value END) AS {{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
    FROM args AS a
    JOIN {{ events }} AS e ON e.process = a.process AND e.region_id = a.owner_id
    WHERE CAST(a.owner AS VARCHAR) = 'region'
    GROUP BY a.process, a.owner_id
),
placed_agents AS (
    SELECT
        process, agent_id, gpu,
        CAST(agent_type AS VARCHAR) AS agent_type,
        CAST(ROW_NUMBER() OVER (PARTITION BY process ORDER BY agent_id NULLS FIRST) AS BIGINT) - 1 AS place
    FROM agents
),
agent_numbers AS (
    SELECT process, 'id' AS kind, agent_id AS number, agent_id, gpu, agent_type
    FROM placed_agents
    UNION ALL
    SELECT process, 'place' AS kind, place AS number, agent_id, gpu, agent_type
    FROM placed_agents
)
{%- endmacro -%}

{#- The steps `together` and `waits`: how long each kernel of a collective waited for the others. -#}
{%- macro collective_waits() -%}
together AS (
    SELECT collective, MIN(duration_ns) AS cost_ns
    FROM collective_kernels
    WHERE gpus > 1 AND collective IS NOT NULL
    GROUP BY collective
),
waits AS (
    SELECT k.process, k.dispatch_id, CAST(k.duration_ns - t.cost_ns AS DOUBLE) AS wait_ns
    FROM collective_kernels AS k
    JOIN together AS t ON t.collective = k.collective
)
{%- endmacro -%}

{#- A metric over rows of metric_sums: ratio of the sums, or with --agg mean the mean of the values of dispatches. -#}
{%- macro metric_value() -%}
{%- if agg == 'mean' -%}
SUM(value_sum) / NULLIF(CAST(SUM(valued_dispatches) AS DOUBLE), CAST(0 AS DOUBLE))
{%- else -%}
SUM(numerator) / NULLIF(SUM(denominator), CAST(0 AS DOUBLE))
{%- endif -%}
{%- endmacro -%}

{%- set roof_vector = ['valu_flops_f16', 'valu_flops_f32', 'valu_flops_f64'] %}
{%- set roof_matrix = ['mfma_flops_f16', 'mfma_flops_bf16', 'mfma_flops_f32', 'mfma_flops_f64'] %}
{#- Types of data that not every architecture has: where a metric has no row, there is no such work. #}
{%- set roof_of_some = ['mfma_flops_f8', 'mfma_flops_f6f4'] %}
{%- set roof_bytes = ['bytes_lds', 'bytes_l1', 'bytes_l2', 'bytes_hbm'] %}
{%- set roof_flops = roof_vector + roof_matrix + roof_of_some %}
{%- set roof_work = roof_flops + ['mfma_iops_i8'] + roof_bytes %}
{%- set roof_peaks = {
    'peak_hbm_gbps': 'bytes_hbm',
    'peak_valu_gflops': 'valu_flops_f32',
    'peak_mfma_gflops': 'mfma_flops_f16',
    'peak_valu_f16_gflops': 'valu_flops_f16',
    'peak_valu_f64_gflops': 'valu_flops_f64',
    'peak_mfma_bf16_gflops': 'mfma_flops_bf16',
    'peak_mfma_f32_gflops': 'mfma_flops_f32',
    'peak_mfma_f64_gflops': 'mfma_flops_f64',
    'peak_mfma_f8_gflops': 'mfma_flops_f8',
    'peak_mfma_f6f4_gflops': 'mfma_flops_f6f4',
} %}
{%- set roof_times_and_peaks = 'dispatches, time_ns, ' ~ roof_peaks | join(', ') %}
{#- Steps up to `roofs`: the work of kernels by `keys`, and the least time that a device needs for it. `chosen` are these keys of metric_sums as m. -#}
{%- macro roof_steps(keys, chosen, joins='') -%}
chosen AS (
    SELECT
        {{ chosen }}m.process AS of_process,
        m.gpu AS of_gpu,
        CAST(m.kernel_name AS VARCHAR) AS of_kernel,
        CAST(m.metric AS VARCHAR) AS metric,
        m.dispatches, m.numerator, m.denominator, m.peak,
        CASE WHEN CAST(m.metric AS VARCHAR) = 'roof.time' THEN m.numerator END AS own_ns
    FROM metric_sums AS m{{ joins }}
    WHERE m.panel = 400
),
timed AS (
    SELECT
        {{ keys }}metric, dispatches, numerator, denominator, peak,
        MAX(own_ns) OVER (PARTITION BY of_process, of_gpu, of_kernel) AS kernel_ns
    FROM chosen
),
-- The work of a kernel at the rate of its dispatches that were counted; null where none was.
worked AS (
    SELECT
        {{ keys }}1 AS every_row, metric, dispatches, peak,
        CASE
            WHEN metric = 'roof.time' THEN kernel_ns
            WHEN denominator > CAST(0 AS DOUBLE) THEN numerator * (kernel_ns / NULLIF(denominator, CAST(0 AS DOUBLE)))
        END AS work
    FROM timed
    WHERE kernel_ns > CAST(0 AS DOUBLE)
),
summed AS (
    SELECT
        {{ keys }}every_row,
        {{ sum_if("metric = 'roof.time'", 'dispatches') }} AS dispatches,
        {{ sum_if("metric = 'roof.time'") }} AS kernels,
        SUM(CASE WHEN metric = 'roof.time' THEN work ELSE CAST(0 AS DOUBLE) END) AS time_ns,
        {%- for peak, metric in roof_peaks | items %}
        MAX(CASE WHEN metric = 'roof.{{ metric }}' THEN peak END) AS {{ peak }},
        {%- endfor %}
        {%- for metric in roof_work %}
        {%- set of_metric = "metric = 'roof." ~ metric ~ "'" %}
        {{ sum_if(of_metric) }} AS {{ metric }}_rows,
        {{ sum_if(of_metric ~ ' AND work IS NOT NULL') }} AS {{ metric }}_counted,
        {{ sum_if(of_metric ~ ' AND peak > CAST(0 AS DOUBLE)') }} AS {{ metric }}_bounded,
        SUM(CASE WHEN {{ of_metric }} THEN COALESCE(work, CAST(0 AS DOUBLE)) ELSE CAST(0 AS DOUBLE) END) AS {{ metric }}_work,
        SUM(
            CASE
                WHEN {{ of_metric }} AND peak > CAST(0 AS DOUBLE) THEN COALESCE(work, CAST(0 AS DOUBLE)) / NULLIF(peak, CAST(0 AS DOUBLE))
                ELSE CAST(0 AS DOUBLE)
            END
        ) AS {{ metric }}_least_ns{{ ',' if not loop.last }}
        {%- endfor %}
    FROM worked
    GROUP BY {{ keys }}every_row
),
-- How many kernels of the row lack the counters of a sum, and how many the counters or the peak.
lacking AS (
    SELECT
        {{ keys }}{{ roof_times_and_peaks }},
        {%- for metric in roof_work %}
        {{ metric }}_rows, {{ metric }}_work, {{ metric }}_least_ns,
        {{ metric ~ '_rows' if metric in roof_of_some else 'kernels' }} - {{ metric }}_counted AS {{ metric }}_lacks,
        {{ metric ~ '_rows + ' ~ metric ~ '_rows' if metric in roof_of_some else 'kernels + kernels' }} - {{ metric }}_counted - {{ metric }}_bounded AS {{ metric }}_unbounded{{ ',' if not loop.last }}
        {%- endfor %}
    FROM summed
),
known AS (
    SELECT
        {{ keys }}{{ roof_times_and_peaks }},
        {%- for metric in roof_work %}
        CASE WHEN {{ metric }}_rows > 0 AND {{ metric }}_lacks = 0 THEN {{ metric }}_work END AS {{ metric }},
        {%- endfor %}
        CASE
            WHEN {{ roof_flops | join('_lacks + ') }}_lacks = 0
            THEN {{ roof_flops | join('_work + ') }}_work
        END AS flops,
        CASE
            WHEN {{ roof_vector | join('_unbounded + ') }}_unbounded = 0
            THEN {{ roof_vector | join('_least_ns + ') }}_least_ns
        END AS valu_ns,
        CASE
            WHEN {{ (roof_matrix + roof_of_some + ['mfma_iops_i8']) | join('_unbounded + ') }}_unbounded = 0
            THEN {{ (roof_matrix + roof_of_some + ['mfma_iops_i8']) | join('_least_ns + ') }}_least_ns
        END AS mfma_ns,
        {%- for metric in roof_bytes %}
        CASE WHEN {{ metric }}_unbounded = 0 THEN {{ metric }}_least_ns END AS {{ metric }}_ns{{ ',' if not loop.last }}
        {%- endfor %}
    FROM lacking
),
roofs AS (
    SELECT
        {{ keys }}{{ roof_times_and_peaks }},
        {{ roof_work | join(', ') }},
        flops, valu_ns, mfma_ns, bytes_lds_ns, bytes_l1_ns, bytes_l2_ns, bytes_hbm_ns,
        CASE
            WHEN valu_ns IS NOT NULL AND mfma_ns IS NOT NULL AND bytes_lds_ns IS NOT NULL AND bytes_l1_ns IS NOT NULL
                AND bytes_l2_ns IS NOT NULL AND bytes_hbm_ns IS NOT NULL
            THEN GREATEST(valu_ns, mfma_ns, bytes_lds_ns, bytes_l1_ns, bytes_l2_ns, bytes_hbm_ns)
        END AS roof_ns
    FROM known
)
{%- endmacro -%}

{#- Steps up to `summed`: the metrics of one normalization and panel, out of `source` as m. -#}
{%- macro metric_steps(source, joins='') -%}
chosen AS (
    SELECT
        {{ keys_of('m') }}m.panel, m.ordinal,
        {{ texts('metric, title, unit', 'm') }},
        m.kernel_dispatches, m.dispatches, m.numerator, m.denominator, m.valued_dispatches, m.value_sum,
        m.value_min, m.value_max, m.peak,
        CAST({{ 'm.reason' if missing == 'show' else 'NULL' }} AS VARCHAR) AS reason
    FROM {{ source }} AS m{{ joins }}
    WHERE (m.per IS NULL OR CAST(m.per AS VARCHAR) = '{{ per }}')
        {{- ' AND m.panel = ' ~ panel if panel > 0 }}
),
summed AS (
    SELECT
        {{ keys }}panel, ordinal, metric, title, unit,
        {{ metric_value() }} AS value,
        MIN(value_min) AS least,
        MAX(value_max) AS greatest,
        CAST(SUM(dispatches) AS BIGINT) AS dispatches,
        CAST(SUM(kernel_dispatches - dispatches) AS BIGINT) AS uncounted,
        CASE WHEN MIN(peak) = MAX(peak) THEN MAX(peak) END AS peak,
        MIN(reason) AS reason
    FROM chosen
    GROUP BY {{ keys }}panel, ordinal, metric, title, unit
)
{%- endmacro -%}

{#- The rows of `metrics` and `range_metrics`, out of `summed`; `name` is the key that is a text. -#}
{%- macro metric_rows(name) -%}
labelled AS (
    SELECT
        {{ keys_as_text([name]) }}panel, ordinal, metric, title, value, unit, least, greatest,
        dispatches, uncounted, peak, reason
    FROM summed
)
SELECT
    {{ keys }}panel,
    metric,
    title,
    value,
    unit,
    least AS "min",
    greatest AS "max",
    dispatches,
    uncounted,
    peak,
    CAST(100 AS DOUBLE) * value / NULLIF(peak, CAST(0 AS DOUBLE)) AS pct_of_peak,
    reason
FROM labelled{{ ' WHERE value IS NOT NULL' if missing == 'hide' }}
{{ order_by('ordinal, unit') }}
{%- endmacro -%}
