-- title: Outlier dispatches
-- about: Every outlier dispatch: much longer than others of the same kernel, GPU, launch shape and recorded inputs. Most time lost first. `kernel_outliers` defines the measure; it excludes time waiting in collectives, and messages that may be larger.
-- kind: trace
-- needs: slow_dispatches collective_kernels kernel_symbols processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, category, queue_id, stream_id
-- param: min_z float = 5 [3, 1000000] -- robust z-score from which a dispatch is an outlier
-- param: min_ratio float = 1.5 [1, 1000000] -- and how many times the median it takes at least
-- param: top int = 100 -- first N dispatches of each group, 0 = all
-- column: process id -- process
-- column: dispatch_id id -- dispatch, see the table `kernels`
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: gpu id -- GPU of the process
-- column: queue_id id -- hardware queue
-- column: start_ns ns -- start on the process's clock
-- column: duration_ns ns -- duration
-- column: wait_ns ns -- part of it that waited for the other GPUs of the collective, 0 for what is none
-- column: median_ns ns -- median duration of the same work
-- column: ordinal count -- place among these by their starts; the first ones are those of `kernel_warmup`
-- column: calls count -- dispatches that the median is of
-- column: robust_z number -- distance of the duration without the wait from the median in units of noise
-- column: excess_ns ns -- duration without the wait above the median
{%- set all_keys = keys_and(['process', 'gpu', 'queue_id']) %}
{%- set dispatch = all_keys ~ 'dispatch_id, kernel_name, start_ns, duration_ns, wait_ns, median_ns, ordinal, calls' %}
{%- set rare = dispatch ~ ', robust_z, excess_ns, less_excess' %}
WITH {{ collective_waits() }},
outliers AS (
    SELECT
        {{ keys_of('d', ['process', 'gpu', 'queue_id']) }}d.process, d.gpu, d.queue_id, d.dispatch_id,
        {{ kernel_text('d') }},
        d.time_ns AS start_ns,
        d.took_ns AS duration_ns,
        CAST(COALESCE(w.wait_ns, CAST(0 AS DOUBLE)) AS BIGINT) AS wait_ns,
        d.median_ns, d.ordinal, d.calls,
        d.first_dispatch_id,
        CASE WHEN CAST(d.category AS VARCHAR) = 'communication' THEN COALESCE(d.stream_id, -1) ELSE -2 END AS of_stream,
        CASE
            WHEN w.wait_ns > CAST(0 AS DOUBLE) THEN d.robust_z * (d.excess_ns - w.wait_ns) / d.excess_ns
            ELSE d.robust_z
        END AS robust_z,
        d.excess_ns - COALESCE(w.wait_ns, CAST(0 AS DOUBLE)) AS excess_ns,
        COALESCE(w.wait_ns, CAST(0 AS DOUBLE)) - d.excess_ns AS less_excess
    FROM slow_dispatches AS d
    LEFT JOIN waits AS w ON w.process = d.process AND w.dispatch_id = d.dispatch_id
    {{- join_symbols('d') }}{{ join_processes('d') }}
    WHERE d.robust_z * (d.excess_ns - COALESCE(w.wait_ns, CAST(0 AS DOUBLE))) >= CAST({{ min_z }} AS DOUBLE) * d.excess_ns
        AND CAST(d.took_ns AS DOUBLE) - COALESCE(w.wait_ns, CAST(0 AS DOUBLE)) >= CAST({{ min_ratio }} AS DOUBLE) * d.median_ns
),
counted AS (
    SELECT
        {{ dispatch }}, of_stream, robust_z, excess_ns, less_excess,
        COUNT(*) OVER (PARTITION BY process, first_dispatch_id) AS of_calls
    FROM outliers
),
rare AS (
    SELECT
        {{ rare }}
    FROM counted
    WHERE of_stream = -2 OR of_calls = 1 OR 10 * of_calls <= calls
){{ ranked_step('rare', rare, 'less_excess, process, dispatch_id') }}
SELECT
    {{ keys_and(['process']) }}dispatch_id,
    kernel_name,
    {{ 'gpu, ' if 'gpu' not in by }}{{ 'queue_id, ' if 'queue_id' not in by }}start_ns,
    duration_ns,
    wait_ns,
    median_ns,
    ordinal,
    calls,
    robust_z,
    excess_ns
FROM {{ 'ranked' if top > 0 and by else 'rare' }}
{{ top_by('less_excess, process, dispatch_id') }}
