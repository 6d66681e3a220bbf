-- title: Graph summary
-- about: HIP graphs with their replays: how long the call, the wait and the work of a replay take. Where no graph execution was recorded, known_by says so: replays of the same kernels and copies are then taken for one graph.
-- kind: summary
-- needs: graph_work processes
-- by: rank
-- dimensions: rank, process, node, hostname
-- column: rank id -- rank
-- column: graph id -- number of the graph in its process; a grouping without processes gathers equal numbers
-- column: known_by name -- graph_exec_id or same work
-- column: replays count -- launches
-- column: without_call count -- those whose launching call was not recorded
-- column: kernels count -- kernels of all replays
-- column: copies count -- copies of all replays
-- column: least_work count -- fewest kernels and copies of a replay
-- column: most_work count -- most of them
-- column: mean_api_ns ns -- mean length of the call
-- column: mean_queue_delay_ns ns -- mean time from the end of the call to the first start on the GPU
-- column: mean_span_ns ns -- mean time from the first start to the last end of a replay
-- column: min_span_ns ns -- shortest
-- column: max_span_ns ns -- longest
-- column: mean_work_ns ns -- mean sum of the durations of a replay
-- column: total_work_ns ns -- sum of the durations of all replays
WITH replays AS (
    SELECT
        process, rank, graph, known_by, replay,
        MIN(api_start_ns) AS api_start_ns,
        MAX(api_end_ns) AS api_end_ns,
        MIN(start_ns) AS start_ns,
        MAX(end_ns) AS end_ns,
        CAST(COUNT(*) AS BIGINT) AS pieces,
        {{ sum_if("kind = 'kernel'") }} AS kernels,
        CAST(SUM(work_ns) AS BIGINT) AS work_ns
    FROM graph_work
    GROUP BY process, rank, graph, known_by, replay
),
placed AS (
    SELECT
        {{ keys_of('r') }}r.graph,
        CAST(r.known_by AS VARCHAR) AS known_by,
        r.api_end_ns - r.api_start_ns AS api_ns,
        r.start_ns - r.api_end_ns AS queue_delay_ns,
        r.end_ns - r.start_ns AS span_ns,
        r.pieces, r.kernels, r.work_ns
    FROM replays AS r{{ join_processes('r') }}
),
summed AS (
    SELECT
        {{ keys }}graph, known_by,
        CAST(COUNT(*) AS BIGINT) AS replays,
        CAST(COUNT(api_ns) AS BIGINT) AS calls,
        {{ sums('pieces, kernels') }},
        MIN(pieces) AS least_work,
        MAX(pieces) AS most_work,
        {{ sums('api_ns, queue_delay_ns, span_ns') }},
        MIN(span_ns) AS min_span_ns,
        MAX(span_ns) AS max_span_ns,
        CAST(SUM(work_ns) AS BIGINT) AS total_work_ns
    FROM placed
    GROUP BY {{ keys }}graph, known_by
)
SELECT
    {{ keys }}graph,
    known_by,
    replays,
    replays - calls AS without_call,
    kernels,
    pieces - kernels AS copies,
    least_work,
    most_work,
    {{ ratio('api_ns', 'calls') }} AS mean_api_ns,
    {{ ratio('queue_delay_ns', 'calls') }} AS mean_queue_delay_ns,
    CAST(span_ns AS DOUBLE) / CAST(replays AS DOUBLE) AS mean_span_ns,
    min_span_ns,
    max_span_ns,
    CAST(total_work_ns AS DOUBLE) / CAST(replays AS DOUBLE) AS mean_work_ns,
    total_work_ns
FROM summed
{{ order_by('total_work_ns DESC, graph, known_by') }}
