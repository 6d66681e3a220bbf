-- title: Queue depth over time
-- about: Waiting and running dispatches of each hardware queue, in equal bins from the first issued dispatch of each process. A dispatch is issued when its launch call returns. Bins before the first and after the last dispatch of a queue are omitted. Coarser groupings average over queues.
-- kind: heatmap
-- plot: heatmap row=by bin=bin value=mean_depth from=bin_start_ns to=bin_end_ns
-- needs: queue_depths processes
-- by: rank, gpu, queue_id
-- dimensions: rank, gpu, queue_id, stream_id, process, device, node, hostname
-- param: bins int = 50 [1, 10000] -- number of bins over the longest process
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: queue_id id -- hardware queue
-- column: bin count -- number of the bin, from 0
-- column: bin_start_ns ns -- start of the bin, from the first issued dispatch of the process on
-- column: bin_end_ns ns -- its end
-- column: mean_depth number -- dispatches issued and not ended, mean over the bin
-- column: mean_waiting number -- dispatches issued and not started, mean over the bin
-- column: max_depth count -- most at once
-- column: empty_ns ns -- time in the bin with an empty queue
WITH bounds AS (
    SELECT process, MIN(start_ns) AS first_ns, MAX(end_ns) AS last_ns
    FROM queue_depths
    GROUP BY process
),
longest AS (
    SELECT MAX(last_ns - first_ns) AS span_ns
    FROM bounds
),
numbered AS (
    SELECT n, 1 AS every_row
    FROM numbers
    WHERE n <= {{ bins }}
),
-- The number of bins is taken from a column, because a constant divisor is rounded.
width AS (
    SELECT CAST(CEIL(CAST(l.span_ns AS DOUBLE) / CAST(k.n AS DOUBLE)) AS BIGINT) AS bin_ns
    FROM longest AS l
    CROSS JOIN numbered AS k
    WHERE k.n = {{ bins }} AND l.span_ns > 0
),
stretches AS (
    SELECT
        {{ keys_of('q') }}1 AS every_row,
        q.start_ns - b.first_ns AS from_ns,
        q.end_ns - b.first_ns AS to_ns,
        q.waiting,
        q.waiting + q.running AS depth,
        w.bin_ns,
        CAST(FLOOR(CAST(q.start_ns - b.first_ns AS DOUBLE) / CAST(w.bin_ns AS DOUBLE)) AS BIGINT) AS first_bin,
        CAST(CEIL(CAST(q.end_ns - b.first_ns AS DOUBLE) / CAST(w.bin_ns AS DOUBLE)) AS BIGINT) - 1 AS last_bin
    FROM queue_depths AS q
    JOIN bounds AS b ON b.process = q.process{{ join_processes('q') }}
    CROSS JOIN width AS w
),
-- At most one interval of a queue crosses the edge of a bin, so that few rows meet all bins.
crossing AS (
    SELECT
        {{ keys_in('s') }}s.every_row,
        k.n AS bin,
        s.bin_ns,
        CASE WHEN k.n = s.first_bin THEN s.from_ns ELSE k.n * s.bin_ns END AS from_ns,
        CASE WHEN k.n = s.last_bin THEN s.to_ns ELSE (k.n + 1) * s.bin_ns END AS to_ns,
        s.waiting, s.depth
    FROM stretches AS s
    JOIN numbered AS k ON k.every_row = s.every_row
    WHERE s.first_bin < s.last_bin AND k.n >= s.first_bin AND k.n <= s.last_bin
),
pieces AS (
    SELECT {{ keys }}every_row, first_bin AS bin, bin_ns, to_ns - from_ns AS time_ns, waiting, depth
    FROM stretches
    WHERE first_bin = last_bin
    UNION ALL
    SELECT {{ keys }}every_row, bin, bin_ns, to_ns - from_ns AS time_ns, waiting, depth
    FROM crossing
),
summed AS (
    SELECT
        {{ keys }}bin, bin_ns,
        CAST(SUM(time_ns) AS BIGINT) AS time_ns,
        CAST(SUM(depth * time_ns) AS BIGINT) AS depth_time,
        CAST(SUM(waiting * time_ns) AS BIGINT) AS waiting_time,
        MAX(depth) AS max_depth,
        {{ sum_if('depth = 0', 'time_ns') }} AS empty_ns
    FROM pieces
    GROUP BY {{ keys }}bin, bin_ns
)
SELECT
    {{ keys }}bin,
    bin * bin_ns AS bin_start_ns,
    (bin + 1) * bin_ns AS bin_end_ns,
    {{ ratio('depth_time', 'time_ns') }} AS mean_depth,
    {{ ratio('waiting_time', 'time_ns') }} AS mean_waiting,
    max_depth,
    empty_ns
FROM summed
{{ order_by('bin') }}
