{#- What queries about messages between processes share: where MPI and its kin have recorded them. They import `message_calls`. -#}
{%- from "_prelude.sql" import join_processes, keys_but, keys_in, keys_of, message_domains, text_list, whole_number -%}

{#- Where functions of MPI take what describes a message, for arguments that are recorded by their place alone; from the standard. -#}
{%- set mpi_places = [
    [['send', 'bsend', 'ssend', 'rsend', 'isend', 'ibsend', 'issend', 'irsend', 'send_init', 'bsend_init', 'ssend_init', 'rsend_init'],
     {'1': 'count', '2': 'type', '3': 'destination', '4': 'tag', '5': 'communicator'}],
    [['recv', 'irecv', 'recv_init'], {'1': 'count', '2': 'type', '3': 'source', '4': 'tag', '5': 'communicator'}],
    [['sendrecv', 'isendrecv'],
     {'1': 'sent_count', '2': 'sent_type', '3': 'destination', '4': 'tag', '6': 'received_count', '7': 'received_type', '8': 'source',
      '10': 'communicator'}],
    [['sendrecv_replace', 'isendrecv_replace'],
     {'1': 'count', '2': 'type', '3': 'destination', '4': 'tag', '5': 'source', '7': 'communicator'}],
    [['put', 'rput', 'accumulate', 'raccumulate'], {'1': 'count', '2': 'type', '3': 'destination'}],
    [['get', 'rget'], {'1': 'count', '2': 'type', '3': 'source'}],
    [['bcast', 'ibcast'], {'1': 'count', '2': 'type', '3': 'root', '4': 'communicator'}],
    [['reduce', 'ireduce'], {'2': 'count', '3': 'type', '5': 'root', '6': 'communicator'}],
    [['allreduce', 'iallreduce', 'scan', 'iscan', 'exscan', 'iexscan'], {'2': 'count', '3': 'type', '5': 'communicator'}],
    [['allgather', 'iallgather', 'alltoall', 'ialltoall', 'neighbor_allgather', 'neighbor_alltoall'],
     {'1': 'sent_count', '2': 'sent_type', '4': 'received_count', '5': 'received_type', '6': 'communicator'}],
    [['allgatherv', 'iallgatherv'], {'1': 'sent_count', '2': 'sent_type', '7': 'communicator'}],
    [['gather', 'igather'], {'1': 'sent_count', '2': 'sent_type', '6': 'root', '7': 'communicator'}],
    [['gatherv', 'igatherv'], {'1': 'sent_count', '2': 'sent_type', '7': 'root', '8': 'communicator'}],
    [['scatter', 'iscatter'], {'4': 'received_count', '5': 'received_type', '6': 'root', '7': 'communicator'}],
    [['scatterv', 'iscatterv'], {'5': 'received_count', '6': 'received_type', '7': 'root', '8': 'communicator'}],
    [['barrier', 'ibarrier'], {'0': 'communicator'}],
] -%}

{#- The same for arguments that are recorded by name. -#}
{%- set message_words = {
    'count': ['count', 'nelems'],
    'type': ['datatype', 'dtype'],
    'sent_count': ['sendcount', 'sendcnt', 'send_count'],
    'sent_type': ['sendtype', 'send_type'],
    'received_count': ['recvcount', 'recvcnt', 'recv_count'],
    'received_type': ['recvtype', 'recv_type'],
    'bytes': ['bytes', 'nbytes', 'size'],
    'destination': ['dest', 'dst', 'destination', 'target_rank', 'pe'],
    'source': ['source', 'src'],
    'root': ['root'],
    'tag': ['tag', 'sendtag'],
    'communicator': ['comm', 'communicator', 'team'],
} -%}

{#- Bytes of an element of MPI's datatypes where a long has 8, by their names in small letters without MPI_. -#}
{%- set mpi_type_bytes = {
    '1': ['char', 'signed_char', 'unsigned_char', 'byte', 'packed', 'int8_t', 'uint8_t', 'c_bool', 'cxx_bool', 'character'],
    '2': ['short', 'unsigned_short', 'int16_t', 'uint16_t', 'integer2'],
    '4': ['int', 'unsigned', 'float', 'int32_t', 'uint32_t', 'wchar', 'integer', 'integer4', 'real', 'real4', 'logical'],
    '6': ['short_int'],
    '8': ['long', 'unsigned_long', 'long_long', 'long_long_int', 'unsigned_long_long', 'int64_t', 'uint64_t', 'double', 'aint', 'offset',
          'double_precision', 'integer8', 'real8', 'complex', 'c_complex', 'c_float_complex', 'float_int', '2int'],
    '12': ['double_int', 'long_int'],
    '16': ['long_double', 'double_complex', 'c_double_complex', 'cxx_double_complex'],
    '20': ['long_double_int'],
} -%}

{#- Calls of MPI whose arguments describe no message. -#}
{%- set mpi_without_message = [
    'alloc_', 'buffer_', 'cart_', 'comm_', 'error_', 'file_', 'get_address', 'get_count', 'get_elements', 'get_library', 'get_processor',
    'get_version', 'graph_', 'group_', 'info_', 'op_', 'pack', 'status_', 'type_', 'unpack', 'win_',
] -%}

{#- More elements or bytes than this are no size of a message. -#}
{%- set most_of_message = 2 ** 40 -%}

{#- Bytes of an element, from a recorded datatype: its name, or the number by which MPICH and its kin know a datatype of the standard,
0x4c000000 and its size in the second byte. Null for the addresses by which Open MPI knows them. -#}
{%- macro element_bytes(type) -%}
CASE
            {%- for bytes, words in mpi_type_bytes | items %}
            WHEN REPLACE(REPLACE(LOWER({{ type }}), 'ompi_', ''), 'mpi_', '') IN {{ text_list(words) }} THEN {{ bytes }}
            {%- endfor %}
            WHEN {{ whole_number(type) }} BETWEEN 1275068416 AND 1275133951
                THEN CAST(FLOOR(CAST({{ whole_number(type) }} - 1275068416 AS DOUBLE) / CAST(256 AS DOUBLE)) AS BIGINT)
        END
{%- endmacro -%}

{#- The step `messages`, with those before it: calls of MPI and its kin, with the grouping columns, and what is recorded of their messages.
Sizes are those of the arguments, else what rocprofiler-systems added to its running sum of bytes during the call. -#}
{%- macro message_calls() -%}
message_regions AS (
    SELECT
        {{ keys_of('r', but=['process'], as_text=['category']) }}r.process, r.region_id, r.start_ns, r.end_ns, r.duration_ns,
        CAST(r.domain AS VARCHAR) AS call_domain,
        CAST(r.name AS VARCHAR) AS call_name,
        LOWER(CAST(r.name AS VARCHAR)) AS function
    FROM regions AS r{{ join_processes('r') }}
    WHERE r.valid AND CAST(r.domain AS VARCHAR) IN {{ message_domains }}
),
message_args AS (
    SELECT a.process, a.owner_id AS region_id, c.function, LOWER(CAST(a.name AS VARCHAR)) AS arg, a.value
    FROM args AS a
    JOIN message_regions AS c ON c.process = a.process AND c.region_id = a.owner_id
    WHERE CAST(a.owner AS VARCHAR) = 'region'
),
-- Different arguments are few, so that what they are is found out once.
different_args AS (
    SELECT DISTINCT function, arg
    FROM message_args
),
known_args AS (
    SELECT
        function, arg,
        CASE
            {%- for functions, places in mpi_places %}
            {%- for place, role in places | items %}
            WHEN arg LIKE 'arg{{ place }}-%' AND REPLACE(function, 'mpi_', '') IN {{ text_list(functions) }} THEN '{{ role }}'
            {%- endfor %}
            {%- endfor %}
            WHEN arg IN ('pe', 'target_rank') AND (
                function LIKE '%get%' OR SUBSTR(function, CAST(LENGTH(function) AS BIGINT) - 1, 2) = '_g'
            ) THEN 'source'
            {%- for role, words in message_words | items %}
            WHEN arg IN {{ text_list(words) }} THEN '{{ role }}'
            {%- endfor %}
        END AS role
    FROM different_args
),
message_roles AS (
    SELECT a.process, a.region_id, k.role, a.value
    FROM message_args AS a
    JOIN known_args AS k ON k.function = a.function AND k.arg = a.arg
    WHERE k.role IS NOT NULL
),
different_types AS (
    SELECT DISTINCT value
    FROM message_roles
    WHERE role IN ('type', 'sent_type', 'received_type')
),
known_types AS (
    SELECT value, {{ element_bytes('value') }} AS element_bytes
    FROM different_types
),
known_values AS (
    SELECT r.process, r.region_id, r.role, r.value, {{ whole_number('r.value') }} AS number, t.element_bytes
    FROM message_roles AS r
    LEFT JOIN known_types AS t ON t.value = r.value
),
message_values AS (
    SELECT
        process, region_id,
        {%- for role in ['destination', 'source', 'root', 'tag'] %}
        MAX(CASE WHEN role = '{{ role }}' THEN number END) AS {{ role }},
        {%- endfor %}
        {%- for role in ['count', 'sent_count', 'received_count', 'bytes'] %}
        MAX(CASE WHEN role = '{{ role }}' AND number BETWEEN 0 AND {{ most_of_message }} THEN number END) AS {{ role }},
        {%- endfor %}
        {%- for role in ['type', 'sent_type', 'received_type'] %}
        MAX(CASE WHEN role = '{{ role }}' THEN element_bytes END) AS {{ role }}_bytes,
        {%- endfor %}
        MAX(CASE WHEN role = 'communicator' THEN value END) AS communicator
    FROM known_values
    GROUP BY process, region_id
),
-- The first of the running sums may be that of earlier calls, outside of a window.
message_sums AS (
    SELECT
        process, time_ns,
        LOWER(SUBSTR(CAST(track AS VARCHAR), 1, 3)) AS call_domain,
        CASE WHEN LOWER(CAST(track AS VARCHAR)) LIKE '% recv%' THEN 1 ELSE 0 END AS is_received,
        TRY_CAST(value AS BIGINT) AS bytes
    FROM samples
    WHERE LOWER(CAST(track AS VARCHAR)) LIKE '___ comm send%' OR LOWER(CAST(track AS VARCHAR)) LIKE '___ comm recv%'
),
message_steps AS (
    SELECT
        process, time_ns, call_domain, is_received,
        bytes - LAG(bytes) OVER (
            PARTITION BY process, call_domain, is_received
            ORDER BY time_ns NULLS FIRST, bytes NULLS FIRST
        ) AS bytes
    FROM message_sums
),
numbered_calls AS (
    SELECT
        process, region_id, call_domain, start_ns, end_ns,
        CAST(ROW_NUMBER() OVER (
            PARTITION BY process, call_domain
            ORDER BY start_ns NULLS FIRST, region_id NULLS FIRST
        ) AS BIGINT) AS number
    FROM message_regions
),
calls_and_steps AS (
    SELECT process, call_domain, start_ns AS time_ns, number, CAST(NULL AS BIGINT) AS bytes, 0 AS is_step, 0 AS is_received
    FROM numbered_calls
    UNION ALL
    SELECT process, call_domain, time_ns, CAST(NULL AS BIGINT) AS number, bytes, 1 AS is_step, is_received
    FROM message_steps
),
steps_in_calls AS (
    SELECT
        process, call_domain, time_ns, bytes, is_step, is_received,
        MAX(number) OVER (
            PARTITION BY process, call_domain
            ORDER BY time_ns NULLS FIRST, is_step NULLS FIRST, number NULLS FIRST, is_received NULLS FIRST, bytes NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS number
    FROM calls_and_steps
),
sampled_messages AS (
    SELECT
        n.process, n.region_id,
        CAST(SUM(CASE WHEN s.is_received = 0 THEN s.bytes END) AS BIGINT) AS sent_bytes,
        CAST(SUM(CASE WHEN s.is_received = 1 THEN s.bytes END) AS BIGINT) AS received_bytes
    FROM steps_in_calls AS s
    JOIN numbered_calls AS n ON n.process = s.process AND n.call_domain = s.call_domain AND n.number = s.number
    WHERE s.is_step = 1 AND s.bytes >= 0 AND s.time_ns <= n.end_ns
    GROUP BY n.process, n.region_id
),
message_parts AS (
    SELECT
        {{ keys_in('c', but=['process']) }}c.process, c.region_id, c.call_domain, c.call_name, c.duration_ns,
        v.destination, v.source, v.root, v.tag, v.communicator, v.bytes,
        v.sent_count * v.sent_type_bytes AS own_sent_bytes,
        v.received_count * v.received_type_bytes AS own_received_bytes,
        v.count * CASE
            WHEN c.call_domain = 'ucx' OR c.function LIKE '%putmem%' OR c.function LIKE '%getmem%' THEN 1
            ELSE v.type_bytes
        END AS counted_bytes,
        CASE
            {%- for name in mpi_without_message %}
            WHEN c.function LIKE 'mpi_{{ name }}%' THEN 'none'
            {%- endfor %}
            WHEN c.function LIKE '%sendrecv%' OR c.function LIKE '%allreduce%' OR c.function LIKE '%scan%' THEN 'both'
            WHEN c.function LIKE '%recv%' OR c.function LIKE '%get%' THEN 'received'
            WHEN SUBSTR(c.function, CAST(LENGTH(c.function) AS BIGINT) - 1, 2) = '_g' THEN 'received'
            ELSE 'sent'
        END AS way,
        s.sent_bytes AS sampled_sent_bytes,
        s.received_bytes AS sampled_received_bytes
    FROM message_regions AS c
    LEFT JOIN message_values AS v ON v.process = c.process AND v.region_id = c.region_id
    LEFT JOIN sampled_messages AS s ON s.process = c.process AND s.region_id = c.region_id
),
message_sides AS (
    SELECT
        {{ keys_but(['process']) }}process, region_id, call_domain, call_name, duration_ns, destination, source, root, tag, communicator,
        {%- for side in ['sent', 'received'] %}
        COALESCE(
            own_{{ side }}_bytes,
            CASE WHEN way IN ('both', '{{ side }}') THEN COALESCE(bytes, counted_bytes) END
        ) AS argument_{{ side }}_bytes,
        {%- endfor %}
        sampled_sent_bytes, sampled_received_bytes
    FROM message_parts
),
messages AS (
    SELECT
        {{ keys_but(['process']) }}process, region_id, call_domain, call_name, duration_ns, destination, source, root, tag, communicator,
        {%- for side in ['sent', 'received'] %}
        CASE
            WHEN argument_sent_bytes IS NULL AND argument_received_bytes IS NULL THEN sampled_{{ side }}_bytes
            ELSE argument_{{ side }}_bytes
        END AS {{ side }}_bytes{{ ',' if not loop.last }}
        {%- endfor %}
    FROM message_sides
)
{%- endmacro -%}
