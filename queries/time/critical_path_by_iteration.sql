-- title: Critical path by iteration
-- about: Critical path of each process by iteration, found without markers. The kinds add up to the duration of the iteration.
-- kind: pace
-- plot: stacked label=iteration parts=kernel_ns:compute,copy_ns:copy,api_ns,host_ns,launch_latency_ns,queue_wait_ns,sync_wakeup_ns,unknown_ns:other
-- needs: iterations critical_path
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: process id -- process
-- column: iteration id -- ordinal of the repetition, from 0
-- column: phase text -- warmup, steady or cooldown
-- column: duration_ns ns -- length of the iteration
-- column: kernel_ns ns -- part of the path in kernels
-- column: copy_ns ns -- in copies
-- column: api_ns ns -- inside calls
-- column: host_ns ns -- on the host outside of calls
-- column: launch_latency_ns ns -- launched and not started
-- column: queue_wait_ns ns -- between work that follows in a queue
-- column: sync_wakeup_ns ns -- in waiting calls after what they waited for
-- column: unknown_ns ns -- without a recorded cause of the wait
-- column: gpu_pct pct -- share of kernels and copies
{%- set kinds = ['kernel', 'copy', 'api', 'host', 'launch_latency', 'queue_wait', 'sync_wakeup', 'unknown'] %}
WITH summed AS (
    SELECT
        process, iteration,
        {%- for kind in kinds %}
        CAST(SUM(CASE WHEN kind = '{{ kind }}' THEN duration_ns ELSE 0 END) AS BIGINT) AS {{ kind }}_ns{{ '' if loop.last else ',' }}
        {%- endfor %}
    FROM critical_path
    WHERE iteration IS NOT NULL
    GROUP BY process, iteration
)
SELECT
    i.rank,
    i.process,
    i.iteration,
    CAST(i.phase AS VARCHAR) AS phase,
    i.duration_ns,
    {%- for kind in kinds %}
    s.{{ kind }}_ns,
    {%- endfor %}
    {{ percent('s.kernel_ns + s.copy_ns', 'i.duration_ns') }} AS gpu_pct
FROM iterations AS i
JOIN summed AS s ON s.process = i.process AND s.iteration = i.iteration
ORDER BY i.rank NULLS FIRST, i.process NULLS FIRST, i.iteration NULLS FIRST
