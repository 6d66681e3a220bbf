-- title: Kernel summary
-- about: Time and calls of every kernel, longest total first, with its share of all kernel time.
-- kind: summary
-- plot: pareto label=kernel_name value=total_ns share=pct role=category
-- needs: kernels kernel_symbols processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, category, queue_id, stream_id, tid, agent_id, region_name, graph_exec_id
-- param: top int = 0 -- first N kernels of each group, 0 = all
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: category name -- category with the most time under this name
-- column: calls count -- dispatches
-- column: total_ns ns -- sum of the durations
-- column: mean_ns ns -- mean duration
-- column: median_ns ns -- median duration
-- column: std_ns ns -- sample standard deviation, null for a single call
-- column: min_ns ns -- shortest dispatch
-- column: max_ns ns -- longest dispatch
-- column: pct pct -- share of the kernel time of the group
-- column: cumulative_pct pct -- share of this kernel and all above it
{%- set kernel = keys ~ 'kernel_name,' ~ (' category,' if 'category' not in by) %}
WITH dispatches AS (
    SELECT
        {{ keys_of('k') }}{{ kernel_name('k') }},
        {{- ' k.category,' if 'category' not in by }}
        k.duration_ns
    FROM kernels AS k{{ join_symbols('k') }}{{ join_processes('k') }}
    WHERE k.valid
),
per_name AS (
    SELECT
        {{ keys }}kernel_name,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        {{- wanted('median_ns', 'MEDIAN(CAST(duration_ns AS DOUBLE))') }}
        STDDEV(CAST(duration_ns AS DOUBLE)) AS std_ns,
        MIN(duration_ns) AS min_ns,
        MAX(duration_ns) AS max_ns
    FROM dispatches
    GROUP BY {{ keys }}kernel_name
),
{%- if 'category' not in by %}
per_category AS (
    SELECT {{ keys }}kernel_name, category, CAST(SUM(duration_ns) AS BIGINT) AS category_ns
    FROM dispatches
    GROUP BY {{ keys }}kernel_name, category
),
ranked AS (
    SELECT
        {{ keys }}kernel_name, category,
        ROW_NUMBER() OVER (
            PARTITION BY {{ keys }}kernel_name
            ORDER BY -category_ns NULLS LAST, CAST(category AS VARCHAR) NULLS LAST
        ) AS place
    FROM per_category
),
main_category AS (
    SELECT {{ keys }}kernel_name, category
    FROM ranked
    WHERE place = 1
),
{%- endif %}
labelled AS (
    SELECT
        {{ keys_in('n') }}CAST(n.kernel_name AS VARCHAR) AS kernel_name,
        {{- ' CAST(c.category AS VARCHAR) AS category,' if 'category' not in by }}
        n.calls, n.total_ns,
        {{- ' n.median_ns,' if 'median_ns' in columns }}
        n.std_ns, n.min_ns, n.max_ns
    FROM per_name AS n
    {%- if 'category' not in by %}
    JOIN main_category AS c
        ON c.kernel_name = n.kernel_name{{ and_same_keys('c', 'n') }}
    {%- endif %}
),
summed AS (
    SELECT
        {{ kernel }} calls, total_ns,
        {{- wanted('median_ns') }}
        std_ns, min_ns, max_ns,
        CAST(SUM(total_ns) OVER ({{ per_group }}) AS BIGINT) AS group_ns,
        CAST(SUM(total_ns) OVER (
            {{ per_group }}
            ORDER BY -total_ns NULLS LAST, kernel_name NULLS LAST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS BIGINT) AS running_ns
        {{- place_by('-total_ns, kernel_name') }}
    FROM labelled
)
SELECT
    {{ kernel }}
    calls,
    total_ns,
    CAST(total_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS mean_ns,
    {{- wanted('median_ns') }}
    std_ns,
    min_ns,
    max_ns,
    {{ percent('total_ns', 'group_ns') }} AS pct,
    {{ percent('running_ns', 'group_ns') }} AS cumulative_pct
FROM summed
{{ top_by('total_ns DESC, kernel_name') }}
