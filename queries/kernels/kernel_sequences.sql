-- title: Frequent chains of short kernels
-- about: Chains of two to four short kernels that recur on a queue with only short gaps: candidates for fusion or graph capture. Chains that start as they end are omitted, because they would overlap themselves, except for one repeated kernel. Chains overlap each other: their times do not add up. Filters and windows select chains by their first kernel.
-- kind: summary
-- needs: following_kernels kernel_symbols processes
-- local: chains_2_of_process chains_3_of_process chains_4_of_process
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, queue_id
-- param: short_us float = 10 [0, 1000000000] -- a short kernel takes at most this long
-- param: pause_us float = 10 [0, 1000000000] -- a longer pause ends a chain
-- param: launch_us float = 5 [0, 1000000000] -- time of the host that a launch is reckoned to take
-- param: min_occurrences int = 10 [2, 1000000000] -- occurrences that make a chain frequent
-- param: top int = 50 -- first N chains of each group, 0 = all
-- column: chain name -- kernels in the order of their starts
-- column: length count -- kernels of the chain; the same kernel twice stands for any number in a row, of which each pair is an occurrence
-- column: occurrences count -- how often it occurs
-- column: kernel_ns ns -- time of its kernels; of one kernel repeated, all but the first in a row
-- column: pause_ns ns -- time between its kernels: what one kernel or a graph in its place could save on the GPU at best
-- column: mean_pause_ns ns -- mean pause
-- column: launch_ns ns -- time of the host for all launches but one of each occurrence, as reckoned by --launch-us: saved on top where the host is what limits, else hidden
-- column: first_dispatch_id id -- minimum dispatch id that starts one
{%- set chain = keys ~ 'chain, length, occurrences, kernel_ns, pause_ns, first_dispatch_id' %}
{%- set named = name in ['base', 'mangled'] %}
WITH followed AS (
    SELECT
        {{ keys_of('f', ['process']) }}f.process, f.dispatch_id,
        {%- for place in [1, 2, 3, 4] %}
        {%- set at = '_' ~ place if place > 1 else '' %}
        {%- if name == 'short' %}
        f.short_name{{ at }} AS name_{{ place }},
        {%- elif name == 'base' %}
        COALESCE(CAST(s{{ at }}.base_name AS VARCHAR), CAST(f.short_name{{ at }} AS VARCHAR)) AS name_{{ place }},
        {%- elif name == 'mangled' %}
        COALESCE(CAST(s{{ at }}.mangled_name AS VARCHAR), CAST(f.kernel_name{{ at }} AS VARCHAR)) AS name_{{ place }},
        {%- else %}
        f.kernel_name{{ at }} AS name_{{ place }},
        {%- endif %}
        {%- if place > 1 %}
        f.start_{{ place }}_ns AS start_{{ place }},
        f.end_{{ place }}_ns AS end_{{ place }},
        {%- endif %}
        {%- endfor %}
        f.kernel_ns AS duration_1,
        f.end_ns AS end_1
    FROM following_kernels AS f
    {%- for place in [1, 2, 3, 4] if named %}
    {%- set at = '_' ~ place if place > 1 else '' %}
    LEFT JOIN kernel_symbols AS s{{ at }} ON s{{ at }}.process = f.process AND s{{ at }}.kernel_id = f.kernel_id{{ at }}
    {%- endfor %}{{ join_processes('f') }}
),
{#- Times are whole: as many nanoseconds at most. -#}
{%- set short_ns = (short_us * 1000) | int %}
{%- set pause_ns = (pause_us * 1000) | int %}
{%- for length in [2, 3, 4] %}
-- As many short kernels that follow one another closely. Those that overlap have no pause.
close_{{ length }} AS (
    SELECT
        {{ 'process, ' if 'process' not in by }}{{ keys }}dispatch_id,
        {%- for place in [1, 2, 3, 4] %}
        name_{{ place }},
        {%- endfor %}
        {%- for place in range(length + 1, 5) %}
        start_{{ place }},
        end_{{ place }},
        {%- endfor %}
        end_{{ length }},
        duration_1,
        {{ 'end_2 - start_2' if length == 2 else 'following_ns + end_' ~ length ~ ' - start_' ~ length }} AS following_ns,
        {{ 'pause_ns + ' if length > 2 }}CASE WHEN start_{{ length }} > end_{{ length - 1 }} THEN start_{{ length }} - end_{{ length - 1 }} ELSE 0 END AS pause_ns
    FROM {{ 'followed' if length == 2 else 'close_' ~ (length - 1) }}
    WHERE {{ 'duration_1 <= ' ~ short_ns ~ ' AND ' if length == 2 }}end_{{ length }} - start_{{ length }} <= {{ short_ns }}
        AND start_{{ length }} - end_{{ length - 1 }} <= {{ pause_ns }}
),
chains_{{ length }}_of_process AS (
    SELECT
        {{ 'process, ' if 'process' not in by }}{{ keys }}
        {%- for place in range(1, length + 1) %}name_{{ place }}, {% endfor %}
        CAST(COUNT(*) AS BIGINT) AS occurrences,
        CAST(SUM(following_ns + {{ 'CASE WHEN name_1 = name_2 THEN 0 ELSE duration_1 END' if length == 2 else 'duration_1' }}) AS BIGINT) AS kernel_ns,
        CAST(SUM(pause_ns) AS BIGINT) AS pause_ns,
        MIN(dispatch_id) AS first_dispatch_id
    FROM close_{{ length }}
    {%- if length > 2 %}
    WHERE name_1 <> name_{{ length }}
    {%- if length == 4 %} AND (name_1 <> name_3 OR name_2 <> name_4){% endif %}
    {%- endif %}
    GROUP BY {{ 'process, ' if 'process' not in by }}{{ keys }}{% for place in range(1, length + 1) %}{{ ', ' if place > 1 }}name_{{ place }}{% endfor %}
),
chains_{{ length }} AS (
    SELECT
        {{ keys }}
        {%- for place in range(1, length + 1) %}name_{{ place }}, {% endfor %}
        {{ sums('occurrences, kernel_ns, pause_ns') }},
        MIN(first_dispatch_id) AS first_dispatch_id
    FROM chains_{{ length }}_of_process
    GROUP BY {{ keys }}{% for place in range(1, length + 1) %}{{ ', ' if place > 1 }}name_{{ place }}{% endfor %}
),
{%- endfor %}
chains AS (
    {%- for length in [2, 3, 4] %}
    SELECT
        {{ keys }}
        {%- for place in range(1, length + 1) %}{{ " || ' > ' || " if place > 1 }}CAST(name_{{ place }} AS VARCHAR){% endfor %} AS chain,
        {{ length }} AS length,
        occurrences, kernel_ns, pause_ns, first_dispatch_id
    FROM chains_{{ length }}
    WHERE occurrences >= {{ min_occurrences }}
    {{- '\n    UNION ALL' if not loop.last }}
    {%- endfor %}
){%- if top > 0 and by %},
turned AS (
    SELECT
        {{ chain }},
        -pause_ns AS least_pause,
        -occurrences AS least_occurrences
    FROM chains
){%- endif %}
{{- ranked_step('turned', chain, 'least_pause, least_occurrences, chain') }}
SELECT
    {{ keys }}chain,
    length,
    occurrences,
    kernel_ns,
    pause_ns,
    CAST(pause_ns AS DOUBLE) / CAST(occurrences * (length - 1) AS DOUBLE) AS mean_pause_ns,
    CAST(occurrences * (length - 1) AS DOUBLE) * CAST({{ launch_us }} AS DOUBLE) * CAST(1000 AS DOUBLE) AS launch_ns,
    first_dispatch_id
FROM {{ 'ranked' if top > 0 and by else 'chains' }}
{{ top_by('pause_ns DESC, occurrences DESC, chain') }}
