-- title: Kernels of graph replays
-- about: Kernels by HIP graph and position by start in the replay, over all replays. `kernel_name` is null where a replay records only an unnamed task. `captured_name` is the name at that position in a recorded capture: the launching calls of one thread between `hipStreamBeginCapture` and `hipStreamEndCapture`, named by the kernel in their arguments (PyTorch records it). It is null unless a capture has as many launches as every replay of the graph has kernels, and all such captures name the same kernel there. Concurrent branches of a graph may swap positions.
-- kind: summary
-- needs: graph_work regions args
-- by:
-- dimensions:
-- param: top int = 0 -- first N positions of each graph, 0 = all
-- column: rank id -- rank
-- column: process id -- process
-- column: graph id -- number of the graph in its process
-- column: graph_exec_id id -- HIP graph execution, as recorded
-- column: position count -- position among the kernels of a replay by start, from 0
-- column: kernel_name name -- kernel most often at the position, null for unnamed tasks
-- column: captured_name name -- kernel at the position in captures with as many launches
-- column: agrees text -- yes if both names are the same, no if not, null if one is missing
-- column: captures count -- captures with as many launches as the graph has kernels; null if no capture was recorded
-- column: replays count -- replays with a kernel at the position
-- column: kernels count -- different kernels at the position
-- column: total_ns ns -- sum of the durations
-- column: mean_ns ns -- mean duration
-- column: min_ns ns -- shortest
-- column: max_ns ns -- longest
-- column: pct pct -- share of the kernel time of the graph
{%- set call = "LOWER(CAST(name AS VARCHAR))" %}
{%- set thread = 'PARTITION BY process, tid ORDER BY start_ns NULLS FIRST, region_id NULLS FIRST' %}
{%- set so_far = thread ~ ' ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW' %}
WITH works AS (
    SELECT
        process, rank, graph, graph_exec_id, replay, work_ns,
        CASE WHEN LOWER(CAST(name AS VARCHAR)) <> 'task' THEN CAST(name AS VARCHAR) END AS kernel_name,
        CAST(ROW_NUMBER() OVER (PARTITION BY process, graph, replay ORDER BY position NULLS FIRST) AS BIGINT) - 1 AS position
    FROM graph_work
    WHERE kind = 'kernel'
),
replays AS (
    SELECT process, graph, replay, CAST(COUNT(*) AS BIGINT) AS kernels
    FROM works
    GROUP BY process, graph, replay
),
graphs AS (
    SELECT process, graph, CASE WHEN MIN(kernels) = MAX(kernels) THEN MAX(kernels) END AS kernels
    FROM replays
    GROUP BY process, graph
),
named AS (
    SELECT
        process, rank, graph, graph_exec_id, position, kernel_name,
        CAST(COUNT(*) AS BIGINT) AS runs,
        CAST(SUM(work_ns) AS BIGINT) AS work_ns,
        MIN(work_ns) AS min_ns,
        MAX(work_ns) AS max_ns
    FROM works
    GROUP BY process, rank, graph, graph_exec_id, position, kernel_name
),
ranked AS (
    SELECT
        process, rank, graph, graph_exec_id, position, kernel_name, runs, work_ns, min_ns, max_ns,
        ROW_NUMBER() OVER (
            PARTITION BY process, graph, position
            ORDER BY {{ nulls_last('-runs, kernel_name') }}
        ) AS place
    FROM named
),
positions AS (
    SELECT
        process, rank, graph, graph_exec_id, position,
        MAX(CASE WHEN place = 1 THEN kernel_name END) AS kernel_name,
        CAST(SUM(runs) AS BIGINT) AS replays,
        CAST(COUNT(*) AS BIGINT) AS kernels,
        CAST(SUM(work_ns) AS BIGINT) AS total_ns,
        MIN(min_ns) AS min_ns,
        MAX(max_ns) AS max_ns
    FROM ranked
    GROUP BY process, rank, graph, graph_exec_id, position
),
-- A launch belongs to the capture that its thread began last, unless that has ended.
calls AS (
    SELECT
        process, tid, region_id, start_ns,
        CAST(ROW_NUMBER() OVER ({{ thread }}) AS BIGINT) AS number,
        CASE WHEN {{ call }} LIKE '%streambegincapture%' THEN 1 ELSE 0 END AS begins,
        CASE WHEN {{ call }} LIKE '%streamendcapture%' THEN 1 ELSE 0 END AS ends
    FROM regions
    WHERE valid AND tid IS NOT NULL
        AND ({{ call }} LIKE '%streambegincapture%' OR {{ call }} LIKE '%streamendcapture%'
            OR {{ call }} LIKE 'hip%launch%kernel%' OR {{ call }} LIKE 'cu%launchkernel%')
),
counted AS (
    SELECT
        process, tid, region_id, begins, ends, start_ns,
        MAX(begins * number) OVER ({{ so_far }}) AS begun,
        MAX(ends * number) OVER ({{ so_far }}) AS ended
    FROM calls
),
captured_calls AS (
    SELECT
        process, tid, begun AS capture, region_id,
        CAST(ROW_NUMBER() OVER (
            PARTITION BY process, tid, begun
            ORDER BY start_ns NULLS FIRST, region_id NULLS FIRST
        ) AS BIGINT) - 1 AS position
    FROM counted
    WHERE begins = 0 AND ends = 0 AND begun > ended
),
finished AS (
    SELECT DISTINCT process, tid, begun AS capture
    FROM counted
    WHERE ends = 1
),
captures AS (
    SELECT c.process, c.tid, c.capture, CAST(COUNT(*) AS BIGINT) AS kernels
    FROM captured_calls AS c
    JOIN finished AS f ON f.process = c.process AND f.tid = c.tid AND f.capture = c.capture
    GROUP BY c.process, c.tid, c.capture
),
alike AS (
    SELECT process, kernels, CAST(COUNT(*) AS BIGINT) AS captures
    FROM captures
    GROUP BY process, kernels
),
recorded AS (
    SELECT DISTINCT process
    FROM captures
),
texts AS (
    SELECT process, owner_id AS region_id, MIN(value) AS kernel_name
    FROM args
    WHERE owner = 'region' AND name = 'kernel'
    GROUP BY process, owner_id
),
captured AS (
    SELECT
        l.process, c.kernels, l.position,
        CASE
            WHEN COUNT(t.kernel_name) = COUNT(*) AND MIN(t.kernel_name) = MAX(t.kernel_name) THEN MIN(t.kernel_name)
        END AS kernel_name
    FROM captured_calls AS l
    JOIN captures AS c ON c.process = l.process AND c.tid = l.tid AND c.capture = l.capture
    LEFT JOIN texts AS t ON t.process = l.process AND t.region_id = l.region_id
    GROUP BY l.process, c.kernels, l.position
),
joined AS (
    SELECT
        p.process, p.rank, p.graph, p.graph_exec_id, p.position, p.kernel_name, p.replays, p.kernels, p.total_ns, p.min_ns, p.max_ns,
        c.kernel_name AS captured_name,
        CASE WHEN r.process IS NOT NULL THEN COALESCE(a.captures, 0) END AS captures,
        CAST(SUM(p.total_ns) OVER (PARTITION BY p.process, p.graph) AS BIGINT) AS graph_ns,
        ROW_NUMBER() OVER (PARTITION BY p.process, p.graph ORDER BY p.position NULLS FIRST) AS place
    FROM positions AS p
    JOIN graphs AS g ON g.process = p.process AND g.graph = p.graph
    LEFT JOIN alike AS a ON a.process = p.process AND a.kernels = g.kernels
    LEFT JOIN captured AS c ON c.process = p.process AND c.kernels = g.kernels AND c.position = p.position
    LEFT JOIN recorded AS r ON r.process = p.process
)
SELECT
    rank,
    process,
    graph,
    graph_exec_id,
    position,
    kernel_name,
    captured_name,
    CASE
        WHEN kernel_name = captured_name THEN 'yes'
        WHEN kernel_name <> captured_name THEN 'no'
    END AS agrees,
    captures,
    replays,
    kernels,
    total_ns,
    {{ ratio('total_ns', 'replays') }} AS mean_ns,
    min_ns,
    max_ns,
    {{ percent('total_ns', 'graph_ns') }} AS pct
FROM joined{{ where_place() }}
ORDER BY
    rank NULLS FIRST,
    process NULLS FIRST,
    graph NULLS FIRST,
    position NULLS FIRST
