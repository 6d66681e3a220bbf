-- title: Graph nodes
-- about: What the nodes of HIP graphs ran, over all replays, longest first. Where no node was recorded, node_id is null and the position in the replay by start stands for the node, which branches that run side by side may exchange.
-- kind: summary
-- needs: graph_work processes
-- by: rank
-- dimensions: rank, process, node, hostname
-- param: top int = 0 -- first N nodes of each group, 0 = all
-- column: rank id -- rank
-- column: graph id -- number of the graph in its process; a grouping without processes gathers equal numbers
-- column: node_id id -- node, as recorded
-- column: position count -- position in the replay where no node was recorded, from 0
-- column: name name -- kernel, or direction of a copy
-- column: kind name -- kernel or copy
-- column: runs count -- times it ran
-- column: total_ns ns -- sum of the durations
-- column: mean_ns ns -- mean duration
-- column: min_ns ns -- shortest
-- column: max_ns ns -- longest
-- column: pct pct -- share of the work of its graph
{%- set node = 'graph, node_id, position, name, kind' %}
WITH nodes AS (
    SELECT
        {{ keys_of('g') }}g.graph, g.node_id,
        CASE WHEN g.node_id IS NULL THEN g.position END AS position,
        {{ texts('name, kind', 'g') }}, g.work_ns
    FROM graph_work AS g{{ join_processes('g') }}
),
summed AS (
    SELECT
        {{ keys }}{{ node }},
        CAST(COUNT(*) AS BIGINT) AS runs,
        CAST(SUM(work_ns) AS BIGINT) AS total_ns,
        MIN(work_ns) AS min_ns,
        MAX(work_ns) AS max_ns
    FROM nodes
    GROUP BY {{ keys }}{{ node }}
),
shared AS (
    SELECT
        {{ keys }}{{ node }}, runs, total_ns, min_ns, max_ns,
        CAST(SUM(total_ns) OVER (PARTITION BY {{ keys }}graph) AS BIGINT) AS graph_ns,
        ROW_NUMBER() OVER (
            {{ per_group }}
            ORDER BY {{ nulls_last('-total_ns, ' ~ node) }}
        ) AS place
    FROM summed
)
SELECT
    {{ keys }}{{ node }},
    runs,
    total_ns,
    CAST(total_ns AS DOUBLE) / CAST(runs AS DOUBLE) AS mean_ns,
    min_ns,
    max_ns,
    {{ percent('total_ns', 'graph_ns') }} AS pct
FROM shared{{ where_place() }}
{{ order_by('place') }}
