-- title: Queue summary
-- about: How full each hardware queue was from its first issued dispatch to the end of its last. A dispatch is issued when its launching call returns. While a queue is empty the GPU waits for the host, unless other queues have work. A coarser grouping adds the queues up.
-- kind: summary
-- needs: queue_depths processes
-- by: rank, gpu, queue_id
-- dimensions: rank, gpu, queue_id, stream_id, process, device, node, hostname
-- param: full int = 1024 [1, 1000000] -- depth from which a queue counts as full, as in HTA's time blocked on a full queue
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: queue_id id -- hardware queue
-- column: span_ns ns -- first issue to last end
-- column: empty_ns ns -- time with nothing issued that had not ended
-- column: empty_pct pct -- share of it
-- column: waiting_ns ns -- time with at least one dispatch issued and not started
-- column: full_ns ns -- time with at least --full dispatches issued and not ended
-- column: mean_depth number -- dispatches issued and not ended, mean over time
-- column: mean_waiting number -- dispatches issued and not started, mean over time
-- column: max_depth count -- most at once
WITH stretches AS (
    SELECT
        {{ keys_of('q') }}1 AS every_row,
        q.duration_ns, q.waiting,
        q.waiting + q.running AS depth
    FROM queue_depths AS q{{ join_processes('q') }}
),
summed AS (
    SELECT
        {{ keys }}every_row,
        CAST(SUM(duration_ns) AS BIGINT) AS span_ns,
        {{ sum_if('depth = 0', 'duration_ns') }} AS empty_ns,
        {{ sum_if('waiting > 0', 'duration_ns') }} AS waiting_ns,
        CAST(SUM(CASE WHEN depth >= {{ full }} THEN duration_ns ELSE 0 END) AS BIGINT) AS full_ns,
        CAST(SUM(depth * duration_ns) AS BIGINT) AS depth_time,
        CAST(SUM(waiting * duration_ns) AS BIGINT) AS waiting_time,
        MAX(depth) AS max_depth
    FROM stretches
    GROUP BY {{ keys }}every_row
)
SELECT
    {{ keys }}span_ns,
    empty_ns,
    {{ percent('empty_ns', 'span_ns') }} AS empty_pct,
    waiting_ns,
    full_ns,
    {{ ratio('depth_time', 'span_ns') }} AS mean_depth,
    {{ ratio('waiting_time', 'span_ns') }} AS mean_waiting,
    max_depth
FROM summed
{{ order_by('span_ns DESC') }}
