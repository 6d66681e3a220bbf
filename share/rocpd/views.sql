-- Views for rocpd databases whose inputs have none: names and columns are those that AMD's tools read. Rows that lack a
-- description stay, with nulls.

CREATE VIEW code_objects AS
SELECT
    CO.id, CO.guid, CO.nid, P.pid, A.absolute_index AS agent_abs_index,
    CO.uri, CO.load_base, CO.load_size, CO.load_delta, CO.storage_type AS storage_type_str,
    json_extract(CO.extdata, '$.size') AS code_object_size,
    json_extract(CO.extdata, '$.storage_type') AS storage_type,
    json_extract(CO.extdata, '$.memory_base') AS memory_base,
    json_extract(CO.extdata, '$.memory_size') AS memory_size
FROM
    rocpd_info_code_object CO
    LEFT JOIN rocpd_info_agent A ON A.id = CO.agent_id AND A.guid = CO.guid
    LEFT JOIN rocpd_info_process P ON P.id = CO.pid AND P.guid = CO.guid;

CREATE VIEW kernel_symbols AS
SELECT
    KS.id, KS.guid, KS.nid, P.pid, KS.code_object_id, KS.kernel_name, KS.display_name, KS.kernel_object,
    KS.kernarg_segment_size, KS.kernarg_segment_alignment, KS.group_segment_size, KS.private_segment_size,
    KS.sgpr_count, KS.arch_vgpr_count, KS.accum_vgpr_count,
    json_extract(KS.extdata, '$.size') AS kernel_symbol_size,
    json_extract(KS.extdata, '$.kernel_id') AS kernel_id,
    json_extract(KS.extdata, '$.kernel_code_entry_byte_offset') AS kernel_code_entry_byte_offset,
    json_extract(KS.extdata, '$.formatted_kernel_name') AS formatted_kernel_name,
    json_extract(KS.extdata, '$.demangled_kernel_name') AS demangled_kernel_name,
    json_extract(KS.extdata, '$.truncated_kernel_name') AS truncated_kernel_name,
    json_extract(KS.extdata, '$.kernel_address.handle') AS kernel_address
FROM
    rocpd_info_kernel_symbol KS
    LEFT JOIN rocpd_info_process P ON P.id = KS.pid AND P.guid = KS.guid;

CREATE VIEW processes AS
SELECT
    N.id AS nid, N.machine_id, N.system_name, N.hostname, N.release AS system_release, N.version AS system_version,
    P.guid, P.ppid, P.pid, P.init, P.start, P."end", P.fini, P.command
FROM
    rocpd_info_process P
    LEFT JOIN rocpd_info_node N ON N.id = P.nid AND N.guid = P.guid;

CREATE VIEW threads AS
SELECT
    N.id AS nid, N.machine_id, N.system_name, N.hostname, N.release AS system_release, N.version AS system_version,
    P.guid, P.ppid, P.pid, T.tid, T.start, T."end", T.name
FROM
    rocpd_info_thread T
    LEFT JOIN rocpd_info_process P ON P.id = T.pid AND P.guid = T.guid
    LEFT JOIN rocpd_info_node N ON N.id = T.nid AND N.guid = T.guid;

CREATE VIEW regions AS
SELECT
    R.id, R.guid,
    (SELECT string FROM rocpd_string C WHERE C.id = E.category_id AND C.guid = E.guid) AS category,
    S.string AS name,
    R.nid, P.pid, T.tid, R.start, R."end", R."end" - R.start AS duration, R.event_id,
    E.stack_id, E.parent_stack_id, E.correlation_id AS corr_id,
    E.extdata, E.call_stack, E.line_info
FROM
    rocpd_region R
    LEFT JOIN rocpd_event E ON E.id = R.event_id AND E.guid = R.guid
    LEFT JOIN rocpd_string S ON S.id = R.name_id AND S.guid = R.guid
    LEFT JOIN rocpd_info_process P ON P.id = R.pid AND P.guid = R.guid
    LEFT JOIN rocpd_info_thread T ON T.id = R.tid AND T.guid = R.guid;

CREATE VIEW region_args AS
SELECT
    R.id, R.guid, R.nid, P.pid, A.type, A.name, A.value
FROM
    rocpd_region R
    JOIN rocpd_arg A ON A.event_id = R.event_id AND A.guid = R.guid
    LEFT JOIN rocpd_info_process P ON P.id = R.pid AND P.guid = R.guid;

CREATE VIEW samples AS
SELECT
    R.id, R.guid,
    (SELECT string FROM rocpd_string C WHERE C.id = E.category_id AND C.guid = E.guid) AS category,
    S.string AS name,
    TR.nid, P.pid, T.tid, R.timestamp, R.event_id,
    E.stack_id, E.parent_stack_id, E.correlation_id AS corr_id,
    E.extdata, E.call_stack, E.line_info
FROM
    rocpd_sample R
    LEFT JOIN rocpd_track TR ON TR.id = R.track_id AND TR.guid = R.guid
    LEFT JOIN rocpd_string S ON S.id = TR.name_id AND S.guid = TR.guid
    LEFT JOIN rocpd_event E ON E.id = R.event_id AND E.guid = R.guid
    LEFT JOIN rocpd_info_process P ON P.id = TR.pid AND P.guid = TR.guid
    LEFT JOIN rocpd_info_thread T ON T.id = TR.tid AND T.guid = TR.guid;

CREATE VIEW sample_regions AS
SELECT
    R.id, R.guid,
    (SELECT string FROM rocpd_string C WHERE C.id = E.category_id AND C.guid = E.guid) AS category,
    S.string AS name,
    TR.nid, P.pid, T.tid, R.timestamp AS start, R.timestamp AS "end", 0 AS duration, R.event_id,
    E.stack_id, E.parent_stack_id, E.correlation_id AS corr_id,
    E.extdata, E.call_stack, E.line_info
FROM
    rocpd_sample R
    LEFT JOIN rocpd_track TR ON TR.id = R.track_id AND TR.guid = R.guid
    LEFT JOIN rocpd_string S ON S.id = TR.name_id AND S.guid = TR.guid
    LEFT JOIN rocpd_event E ON E.id = R.event_id AND E.guid = R.guid
    LEFT JOIN rocpd_info_process P ON P.id = TR.pid AND P.guid = TR.guid
    LEFT JOIN rocpd_info_thread T ON T.id = TR.tid AND T.guid = TR.guid;

CREATE VIEW regions_and_samples AS
SELECT * FROM regions
UNION ALL
SELECT * FROM sample_regions;

CREATE VIEW kernels AS
SELECT
    K.id, K.guid, T.tid,
    (SELECT string FROM rocpd_string C WHERE C.id = E.category_id AND C.guid = E.guid) AS category,
    R.string AS region, S.display_name AS name, K.nid, P.pid,
    A.absolute_index AS agent_abs_index, A.logical_index AS agent_log_index, A.type_index AS agent_type_index, A.type AS agent_type,
    S.code_object_id, K.kernel_id, K.dispatch_id, K.stream_id, K.queue_id, Q.name AS queue, ST.name AS stream,
    K.start, K."end", K."end" - K.start AS duration,
    K.grid_size_x AS grid_x, K.grid_size_y AS grid_y, K.grid_size_z AS grid_z,
    K.workgroup_size_x AS workgroup_x, K.workgroup_size_y AS workgroup_y, K.workgroup_size_z AS workgroup_z,
    K.group_segment_size AS lds_size, K.private_segment_size AS scratch_size,
    S.arch_vgpr_count AS vgpr_count, S.accum_vgpr_count, S.sgpr_count,
    S.group_segment_size AS static_lds_size, S.private_segment_size AS static_scratch_size,
    E.stack_id, E.parent_stack_id, E.correlation_id AS corr_id
FROM
    rocpd_kernel_dispatch K
    LEFT JOIN rocpd_info_agent A ON A.id = K.agent_id AND A.guid = K.guid
    LEFT JOIN rocpd_event E ON E.id = K.event_id AND E.guid = K.guid
    LEFT JOIN rocpd_string R ON R.id = K.region_name_id AND R.guid = K.guid
    LEFT JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id AND S.guid = K.guid
    LEFT JOIN rocpd_info_stream ST ON ST.id = K.stream_id AND ST.guid = K.guid
    LEFT JOIN rocpd_info_queue Q ON Q.id = K.queue_id AND Q.guid = K.guid
    LEFT JOIN rocpd_info_process P ON P.id = K.pid AND P.guid = K.guid
    LEFT JOIN rocpd_info_thread T ON T.id = K.tid AND T.guid = K.guid;

CREATE VIEW pmc_info AS
SELECT
    I.id, I.guid, I.nid, P.pid, A.absolute_index AS agent_abs_index,
    I.is_constant, I.is_derived, I.name, I.description, I.block, I.expression
FROM
    rocpd_info_pmc I
    LEFT JOIN rocpd_info_agent A ON A.id = I.agent_id AND A.guid = I.guid
    LEFT JOIN rocpd_info_process P ON P.id = I.pid AND P.guid = I.guid;

CREATE VIEW pmc_events AS
SELECT
    V.id, V.guid, V.pmc_id, E.id AS event_id,
    (SELECT string FROM rocpd_string C WHERE C.id = E.category_id AND C.guid = E.guid) AS category,
    S.display_name AS name, K.nid, P.pid, K.dispatch_id,
    K.start, K."end", K."end" - K.start AS duration, I.name AS counter_name, V.value AS counter_value
FROM
    rocpd_pmc_event V
    JOIN rocpd_kernel_dispatch K ON K.event_id = V.event_id AND K.guid = V.guid
    LEFT JOIN rocpd_info_pmc I ON I.id = V.pmc_id AND I.guid = V.guid
    LEFT JOIN rocpd_event E ON E.id = V.event_id AND E.guid = V.guid
    LEFT JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id AND S.guid = K.guid
    LEFT JOIN rocpd_info_process P ON P.id = K.pid AND P.guid = K.guid;

CREATE VIEW events_args AS
SELECT
    E.id AS event_id,
    (SELECT string FROM rocpd_string C WHERE C.id = E.category_id AND C.guid = E.guid) AS category,
    E.stack_id, E.parent_stack_id, E.correlation_id,
    A.position AS arg_position, A.type AS arg_type, A.name AS arg_name, A.value AS arg_value,
    E.call_stack, E.line_info, A.extdata
FROM
    rocpd_event E
    JOIN rocpd_arg A ON A.event_id = E.id AND A.guid = E.guid;

CREATE VIEW stream_args AS
SELECT
    A.id AS argument_id, A.event_id, A.position AS arg_position, A.type AS arg_type, A.value AS arg_value,
    json_extract(A.extdata, '$.stream_id') AS stream_id, S.nid, P.pid, S.name AS stream_name, S.extdata
FROM
    rocpd_arg A
    JOIN rocpd_info_stream S ON S.id = json_extract(A.extdata, '$.stream_id') AND S.guid = A.guid
    LEFT JOIN rocpd_info_process P ON P.id = S.pid AND P.guid = S.guid
WHERE A.name = 'stream';

CREATE VIEW memory_copies AS
SELECT
    M.id, M.guid,
    (SELECT string FROM rocpd_string C WHERE C.id = E.category_id AND C.guid = E.guid) AS category,
    M.nid, P.pid, T.tid, M.start, M."end", M."end" - M.start AS duration,
    S.string AS name, R.string AS region_name,
    M.stream_id, M.queue_id, ST.name AS stream_name, Q.name AS queue_name, M.size,
    D.name AS dst_device, D.absolute_index AS dst_agent_abs_index, D.logical_index AS dst_agent_log_index, D.type_index AS dst_agent_type_index, D.type AS dst_agent_type, M.dst_address,
    O.name AS src_device, O.absolute_index AS src_agent_abs_index, O.logical_index AS src_agent_log_index, O.type_index AS src_agent_type_index, O.type AS src_agent_type, M.src_address,
    E.stack_id, E.parent_stack_id, E.correlation_id AS corr_id
FROM
    rocpd_memory_copy M
    LEFT JOIN rocpd_string S ON S.id = M.name_id AND S.guid = M.guid
    LEFT JOIN rocpd_string R ON R.id = M.region_name_id AND R.guid = M.guid
    LEFT JOIN rocpd_info_agent D ON D.id = M.dst_agent_id AND D.guid = M.guid
    LEFT JOIN rocpd_info_agent O ON O.id = M.src_agent_id AND O.guid = M.guid
    LEFT JOIN rocpd_info_queue Q ON Q.id = M.queue_id AND Q.guid = M.guid
    LEFT JOIN rocpd_info_stream ST ON ST.id = M.stream_id AND ST.guid = M.guid
    LEFT JOIN rocpd_event E ON E.id = M.event_id AND E.guid = M.guid
    LEFT JOIN rocpd_info_process P ON P.id = M.pid AND P.guid = M.guid
    LEFT JOIN rocpd_info_thread T ON T.id = M.tid AND T.guid = M.guid;

CREATE VIEW memory_allocations AS
SELECT
    M.id, M.guid,
    (SELECT string FROM rocpd_string C WHERE C.id = E.category_id AND C.guid = E.guid) AS category,
    M.nid, P.pid, T.tid, M.start, M."end", M."end" - M.start AS duration, M.type, M.level,
    A.name AS agent_name, A.absolute_index AS agent_abs_index, A.logical_index AS agent_log_index, A.type_index AS agent_type_index, A.type AS agent_type,
    M.address, M.size, M.queue_id, Q.name AS queue_name, M.stream_id, ST.name AS stream_name,
    E.stack_id, E.parent_stack_id, E.correlation_id AS corr_id
FROM
    rocpd_memory_allocate M
    LEFT JOIN rocpd_info_agent A ON A.id = M.agent_id AND A.guid = M.guid
    LEFT JOIN rocpd_info_queue Q ON Q.id = M.queue_id AND Q.guid = M.guid
    LEFT JOIN rocpd_info_stream ST ON ST.id = M.stream_id AND ST.guid = M.guid
    LEFT JOIN rocpd_event E ON E.id = M.event_id AND E.guid = M.guid
    LEFT JOIN rocpd_info_process P ON P.id = M.pid AND P.guid = M.guid
    LEFT JOIN rocpd_info_thread T ON T.id = M.tid AND T.guid = M.guid;

CREATE VIEW scratch_memory AS
SELECT
    M.id, M.guid, M.nid, P.pid, M.type AS operation,
    A.name AS agent_name, A.absolute_index AS agent_abs_index, A.logical_index AS agent_log_index, A.type_index AS agent_type_index, A.type AS agent_type,
    M.queue_id, T.tid, json_extract(M.extdata, '$.flags') AS alloc_flags,
    M.start, M."end", M."end" - M.start AS duration, M.size, M.address,
    E.correlation_id, E.stack_id, E.parent_stack_id, E.correlation_id AS corr_id,
    (SELECT string FROM rocpd_string C WHERE C.id = E.category_id AND C.guid = E.guid) AS category,
    E.extdata AS event_extdata
FROM
    rocpd_memory_allocate M
    LEFT JOIN rocpd_info_agent A ON A.id = M.agent_id AND A.guid = M.guid
    LEFT JOIN rocpd_info_queue Q ON Q.id = M.queue_id AND Q.guid = M.guid
    LEFT JOIN rocpd_event E ON E.id = M.event_id AND E.guid = M.guid
    LEFT JOIN rocpd_info_process P ON P.id = M.pid AND P.guid = M.guid
    LEFT JOIN rocpd_info_thread T ON T.id = M.tid AND T.guid = M.guid
WHERE M.level = 'SCRATCH';

CREATE VIEW counters_collection AS
SELECT
    min(V.id) AS id, V.guid, K.dispatch_id, K.kernel_id, E.id AS event_id, E.correlation_id, E.stack_id, E.parent_stack_id,
    P.pid, T.tid, K.agent_id, A.absolute_index AS agent_abs_index, A.logical_index AS agent_log_index, A.type_index AS agent_type_index, A.type AS agent_type, K.queue_id,
    K.grid_size_x, K.grid_size_y, K.grid_size_z, K.grid_size_x * K.grid_size_y * K.grid_size_z AS grid_size,
    S.display_name AS kernel_name, R.string AS kernel_region,
    K.workgroup_size_x, K.workgroup_size_y, K.workgroup_size_z,
    K.workgroup_size_x * K.workgroup_size_y * K.workgroup_size_z AS workgroup_size,
    K.group_segment_size AS lds_block_size, K.private_segment_size AS scratch_size,
    S.arch_vgpr_count AS vgpr_count, S.accum_vgpr_count, S.sgpr_count,
    I.name AS counter_name, I.symbol AS counter_symbol, I.component, I.description, I.block, I.expression,
    I.value_type, I.id AS counter_id, sum(V.value) AS value, K.start, K."end", I.is_constant, I.is_derived,
    K."end" - K.start AS duration,
    (SELECT string FROM rocpd_string C WHERE C.id = E.category_id AND C.guid = E.guid) AS category,
    K.nid, E.extdata, S.code_object_id
FROM
    rocpd_pmc_event V
    JOIN rocpd_kernel_dispatch K ON K.event_id = V.event_id AND K.guid = V.guid
    LEFT JOIN rocpd_info_pmc I ON I.id = V.pmc_id AND I.guid = V.guid
    LEFT JOIN rocpd_event E ON E.id = V.event_id AND E.guid = V.guid
    LEFT JOIN rocpd_info_agent A ON A.id = K.agent_id AND A.guid = K.guid
    LEFT JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id AND S.guid = K.guid
    LEFT JOIN rocpd_string R ON R.id = K.region_name_id AND R.guid = K.guid
    LEFT JOIN rocpd_info_process P ON P.id = K.pid AND P.guid = K.guid
    LEFT JOIN rocpd_info_thread T ON T.id = K.tid AND T.guid = K.guid
GROUP BY V.guid, V.event_id, I.name, K.agent_id;

CREATE VIEW top_kernels AS
SELECT
    name,
    count(*) AS total_calls,
    sum(duration) / 1000.0 AS total_duration,
    avg(duration) / 1000.0 AS average,
    sum(duration) * 100.0 / sum(sum(duration)) OVER () AS percentage
FROM
    (SELECT name, duration FROM kernels)
GROUP BY name
ORDER BY total_duration DESC, name;

CREATE VIEW busy AS
WITH work AS (
    SELECT guid, agent_id, start, "end" FROM rocpd_kernel_dispatch
    UNION ALL
    SELECT guid, dst_agent_id, start, "end" FROM rocpd_memory_copy
)
SELECT
    W.agent_id, A.type, W.GpuTime, S.WallTime,
    W.GpuTime * 1.0 / S.WallTime AS Busy
FROM
    (SELECT guid, agent_id, sum("end" - start) AS GpuTime FROM work GROUP BY guid, agent_id) W
    CROSS JOIN (SELECT max("end") - min(start) AS WallTime FROM work) S
    JOIN rocpd_info_agent A ON A.id = W.agent_id AND A.guid = W.guid;

CREATE VIEW top AS
SELECT
    name,
    count(*) AS total_calls,
    sum(duration) / 1000.0 AS total_duration,
    avg(duration) / 1000.0 AS average,
    sum(duration) * 100.0 / sum(sum(duration)) OVER () AS percentage
FROM
    (SELECT name, duration FROM kernels UNION ALL SELECT name, duration FROM memory_copies UNION ALL SELECT name, duration FROM regions)
GROUP BY name
ORDER BY total_duration DESC, name;
