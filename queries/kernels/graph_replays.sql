-- title: Graph replays
-- about: Every launch of a HIP graph: the call, the wait for the GPU, what it ran and how long. Where no graph execution was recorded, known_by says so: replays of the same kernels and copies are then taken for one graph. Kernels of a graph may run side by side, so that work_ns can exceed span_ns.
-- kind: trace
-- needs: graph_work processes
-- by:
-- dimensions: rank, process, node, hostname
-- column: rank id -- rank
-- column: process id -- process
-- column: graph id -- number of the graph in its process
-- column: known_by name -- graph_exec_id or same work
-- column: graph_exec_id id -- HIP graph execution, as recorded
-- column: replay count -- ordinal of the replay of its graph, from 0
-- column: correlation_id id -- what the launching call shares with its work
-- column: api_name name -- the launching call, null where it was not recorded
-- column: api_ns ns -- length of the call
-- column: queue_delay_ns ns -- end of the call to the first start on the GPU; negative when the GPU starts first
-- column: start_ns ns -- first start on the GPU, in the clock of the trace
-- column: span_ns ns -- first start to last end on the GPU
-- column: kernels count -- kernels
-- column: copies count -- copies
-- column: nodes count -- different recorded nodes, 0 where none were
-- column: work_ns ns -- sum of the durations
WITH replays AS (
    SELECT
        g.process, g.rank, g.graph, g.known_by, g.graph_exec_id, g.replay, g.correlation_id,
        MIN(CAST(g.api_name AS VARCHAR)) AS api_name,
        MIN(g.api_start_ns) AS api_start_ns,
        MAX(g.api_end_ns) AS api_end_ns,
        MIN(g.start_ns) AS start_ns,
        MAX(g.end_ns) AS end_ns,
        {{ sum_if("g.kind = 'kernel'") }} AS kernels,
        {{ sum_if("g.kind = 'copy'") }} AS copies,
        CAST(COUNT(DISTINCT g.node_id) AS BIGINT) AS nodes,
        CAST(SUM(g.work_ns) AS BIGINT) AS work_ns
    FROM graph_work AS g
    GROUP BY g.process, g.rank, g.graph, g.known_by, g.graph_exec_id, g.replay, g.correlation_id
)
SELECT
    {{ keys_of('r') }}{{ 'r.rank, ' if 'rank' not in by }}{{ 'r.process, ' if 'process' not in by }}r.graph,
    CAST(r.known_by AS VARCHAR) AS known_by,
    r.graph_exec_id,
    r.replay,
    r.correlation_id,
    r.api_name,
    r.api_end_ns - r.api_start_ns AS api_ns,
    r.start_ns - r.api_end_ns AS queue_delay_ns,
    r.start_ns,
    r.end_ns - r.start_ns AS span_ns,
    r.kernels,
    r.copies,
    r.nodes,
    r.work_ns
FROM replays AS r{{ join_processes('r') }}
ORDER BY
    {%- for column in by %}
    {{ 'p.' if column in ['node', 'hostname'] else 'r.' }}{{ column }} NULLS FIRST,
    {%- endfor %}
    {{ nulls_last('r.rank, r.process, r.graph, r.replay') }}
