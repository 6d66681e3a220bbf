-- title: MPI message sizes
-- about: Calls of MPI, UCX and SHMEM by function and message size, in bins from a power of two bytes to the next, with their time and throughput. The size of a message is the larger of what the call sends and receives, see `mpi_calls`. Calls without a recorded size have a row without bounds.
-- kind: histogram
-- plot: histogram from=bin_start_bytes to=bin_end_bytes count=calls scale=log
-- needs: regions args samples processes
-- by: rank
-- dimensions: rank, process, node, hostname, tid
-- column: domain text -- mpi, ucx, shmem, openshmem or rocshmem
-- column: name name -- function
-- column: bin_start_bytes bytes -- smallest size of the bin
-- column: bin_end_bytes bytes -- end of the bin, not included
-- column: calls count -- calls
-- column: total_bytes bytes -- sum of the sizes
-- column: total_ns ns -- sum of the durations
-- column: mean_ns ns -- mean duration
-- column: gb_per_s gb_per_s -- total_bytes over total_ns, in 10^9 bytes per second; of calls that do not wait for the message it is no bandwidth
{%- from "_messages.sql" import message_calls %}
WITH {{ message_calls() }},
sizes AS (
    SELECT
        {{ keys }}call_domain, call_name, duration_ns,
        CASE
            WHEN sent_bytes IS NULL OR received_bytes > sent_bytes THEN received_bytes
            ELSE sent_bytes
        END AS bytes
    FROM messages
),
{{ powers_of_two() }},
guesses AS (
    SELECT
        {{ keys }}call_domain, call_name, duration_ns, bytes,
        {{ size_guess('bytes') }} AS guess
    FROM sizes
),
guessed AS (
    SELECT
        {{ keys }}call_domain, call_name, duration_ns, bytes,
        {{ whole_guess() }} AS guess
    FROM guesses
),
placed AS (
    SELECT
        {{ keys_in('g') }}g.call_domain, g.call_name, g.duration_ns, g.bytes,
        {{ size_bin('g.bytes') }} AS bin
    FROM guessed AS g
    JOIN powers AS w ON w.bin = g.guess
),
counted AS (
    SELECT
        {{ keys }}call_domain, call_name, bin,
        CAST(COUNT(*) AS BIGINT) AS calls,
        {{ sum_if('bytes > 0', 'bytes') }} AS total_bytes,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns
    FROM placed
    GROUP BY {{ keys }}call_domain, call_name, bin
)
SELECT
    {{ keys_in('c') }}c.call_domain AS domain,
    c.call_name AS name,
    w.bin_start_bytes,
    w.bin_end_bytes,
    c.calls,
    CASE WHEN c.bin >= -1 THEN c.total_bytes END AS total_bytes,
    c.total_ns,
    {{ ratio('c.total_ns', 'c.calls') }} AS mean_ns,
    CASE WHEN c.bin >= -1 THEN {{ ratio('c.total_bytes', 'c.total_ns') }} END AS gb_per_s
FROM counted AS c
JOIN powers AS w ON w.bin = c.bin
{{ order_by('domain, name, c.bin') }}
