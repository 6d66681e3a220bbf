-- title: Timeline
-- about: Kernels, fills and copies of every process in one list, in the order of time, with bytes and throughput of copies. A fill is a kernel that sets memory, as HIP does it. Times are of the clock of each trace.
-- kind: trace
-- needs: kernels kernel_symbols memory_copies processes
-- by:
-- dimensions: rank, process, gpu, device, node, hostname, stream_id, tid
-- param: top int = 0 -- first N rows of each group, 0 = all
-- column: rank id -- rank
-- column: process id -- process
-- column: gpu id -- GPU of the process
-- column: stream_id id -- stream
-- column: start_ns ns -- start
-- column: duration_ns ns -- duration
-- column: kind name -- kernel, fill or copy
-- column: name name -- kernel, in the name form that was asked for, or direction of the copy
-- column: bytes bytes -- size of the copy, null for kernels and where none is recorded
-- column: gb_per_s gb_per_s -- bytes over duration_ns, in 10^9 bytes per second
-- column: correlation_id id -- what the row shares with the API call that launched it
-- column: id id -- dispatch, or copy; unique of its kind in its process
{%- set details = ['rank', 'process', 'gpu', 'stream_id'] %}
{%- set place = 'rank, process, start_ns, kind, id' %}
WITH work AS (
    SELECT
        {{ keys_of('k', details) }}k.{{ details | join(', k.') }},
        k.start_ns, k.duration_ns,
        CASE WHEN CAST(k.category AS VARCHAR) = 'fill' THEN 'fill' ELSE 'kernel' END AS kind,
        {{ kernel_text('k', 'name') }},
        CAST(NULL AS BIGINT) AS bytes,
        k.correlation_id,
        k.dispatch_id AS id
    FROM kernels AS k{{ join_symbols('k') }}{{ join_processes('k') }}
    WHERE k.valid
    UNION ALL
    SELECT
        {{ keys_of('c', details) }}c.{{ details | join(', c.') }},
        c.start_ns, c.duration_ns,
        'copy' AS kind,
        CAST(c.direction AS VARCHAR) AS name,
        c.bytes,
        c.correlation_id,
        c.copy_id AS id
    FROM memory_copies AS c{{ join_processes('c') }}
    WHERE c.valid
),
placed AS (
    SELECT
        {{ keys_but(details) }}{{ details | join(', ') }}, start_ns, duration_ns, kind, name, bytes, correlation_id, id
        {{- place_by(place) }}
    FROM work
)
SELECT
    {{ keys }}{{ details | reject('in', by) | join(', ') }}{{ ',' if details | reject('in', by) | list }}
    start_ns,
    duration_ns,
    kind,
    name,
    bytes,
    {{ ratio('bytes', 'duration_ns') }} AS gb_per_s,
    correlation_id,
    id
FROM placed
{{ top_by(['rank', 'process', 'start_ns', 'kind', 'id'] | reject('in', by) | join(', ')) }}
