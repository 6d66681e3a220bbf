-- title: MPI calls
-- about: Calls of MPI, UCX and SHMEM by function, peer and communicator, with their time and the bytes of their messages where these are recorded: in the arguments, or in the sums of rocprofiler-systems, which leave out the first message of each direction. A broadcast counts as sent, an all-reduce as sent and received; other collectives count what the call gives for one peer.
-- kind: summary
-- plot: ranked label=name value=total_ns role=comm
-- needs: regions args samples processes
-- by: rank
-- dimensions: rank, process, node, hostname, tid
-- param: top int = 0 -- first N rows of each group, 0 = all
-- column: domain text -- mpi, ucx, shmem, openshmem or rocshmem
-- column: name name -- function
-- column: destination id -- rank or PE that is sent to, as the call gives it; negative numbers are MPI's own, such as for no process
-- column: source id -- rank that is received from; negative numbers are MPI's own, such as for any source
-- column: root id -- root of a collective
-- column: communicator text -- communicator as recorded, a handle or an address of the process
-- column: tag id -- tag, if all calls have the same
-- column: tags count -- number of different tags
-- column: calls count -- calls
-- column: total_ns ns -- sum of the durations
-- column: mean_ns ns -- mean duration
-- column: max_ns ns -- longest call
-- column: sized_calls count -- calls whose size is known
-- column: sent_bytes bytes -- bytes sent by them, null if none is known
-- column: received_bytes bytes -- bytes received by them, null if none is known
{%- from "_messages.sql" import message_calls %}
WITH {{ message_calls() }},
summed AS (
    SELECT
        {{ keys }}call_domain, call_name, destination, source, root, communicator,
        MIN(tag) AS least_tag,
        CAST(COUNT(DISTINCT tag) AS BIGINT) AS tags,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        MAX(duration_ns) AS max_ns,
        {{ sum_if('sent_bytes IS NOT NULL OR received_bytes IS NOT NULL') }} AS sized_calls,
        CAST(COUNT(sent_bytes) AS BIGINT) AS sending,
        CAST(COUNT(received_bytes) AS BIGINT) AS receiving,
        {{ sums('sent_bytes, received_bytes') }}
    FROM messages
    GROUP BY {{ keys }}call_domain, call_name, destination, source, root, communicator
),
labelled AS (
    SELECT
        {{ keys }}call_domain AS domain,
        call_name AS name,
        destination, source, root, communicator,
        CASE WHEN tags = 1 THEN least_tag END AS tag,
        tags, calls, total_ns, max_ns, sized_calls,
        CASE WHEN sending > 0 THEN sent_bytes END AS sent_bytes,
        CASE WHEN receiving > 0 THEN received_bytes END AS received_bytes
        {{- place_by('-total_ns, call_domain, call_name, destination, source, root, communicator') }}
    FROM summed
)
SELECT
    {{ keys }}domain,
    name,
    destination,
    source,
    root,
    communicator,
    tag,
    tags,
    calls,
    total_ns,
    {{ ratio('total_ns', 'calls') }} AS mean_ns,
    max_ns,
    sized_calls,
    sent_bytes,
    received_bytes
FROM labelled
{{ top_by('total_ns DESC, domain, name, destination, source, root, communicator') }}
