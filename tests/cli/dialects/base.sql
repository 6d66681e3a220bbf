-- A process with ids that are not values: two dispatches, a copy, two calls and a mark. It starts at 1 s and lasts 1 s.
INSERT INTO rocpd_metadata{suffix} (tag, value) VALUES ('uuid', '{suffix}'), ('guid', '{guid}'), ('schema_version', '{version}');
INSERT INTO rocpd_string{suffix} (id, string) VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'HIP_RUNTIME_API'),
    (4, 'KERNEL_DISPATCH'), (5, 'MEMORY_COPY_HOST_TO_DEVICE'), (6, 'MEMORY_COPY'), (7, 'MARKER_CORE_API');
INSERT INTO rocpd_info_node{suffix} (id, hash, machine_id, hostname) VALUES (1, 77, 'machine', 'host');
INSERT INTO rocpd_info_process{suffix} (id, nid, ppid, pid, start, "end", command) VALUES (1, 1, 1, 5001, 1000000000, 2000000000, 'app');
INSERT INTO rocpd_info_thread{suffix} (id, nid, pid, tid, name) VALUES (1, 1, 1, 6001, 'main'), (2, 1, 1, 6002, 'worker');
INSERT INTO rocpd_info_agent{suffix} (id, nid, pid, type, absolute_index, logical_index, type_index, name)
    VALUES (1, 1, 1, 'CPU', 0, 0, 0, 'EPYC'), (2, 1, 1, 'GPU', 1, 1, 0, 'gfx942'), (3, 1, 1, 'GPU', 2, 2, 1, 'gfx942');
INSERT INTO rocpd_info_queue{suffix} (id, nid, pid, name) VALUES (1, 1, 1, 'Queue 1'), (2, 1, 1, 'Queue 2');
INSERT INTO rocpd_info_stream{suffix} (id, nid, pid, name) VALUES (1, 1, 1, 'Stream 1');
INSERT INTO rocpd_info_code_object{suffix} (id, nid, pid, agent_id) VALUES (1, 1, 1, 2);
INSERT INTO rocpd_info_kernel_symbol{suffix} (id, nid, pid, code_object_id, kernel_name, display_name)
    VALUES (1, 1, 1, 1, '_Z4axpyPf.kd', 'axpy(float*)');
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id)
    VALUES (1, 3, 11, 0, 0), (2, 3, 12, 0, 0), (3, 4, 11, 11, 0), (4, 4, 12, 12, 0), (5, 6, 11, 11, 0), (6, 7, 14, 0, 0);
INSERT INTO rocpd_region{suffix} (id, nid, pid, tid, start, "end", name_id, event_id)
    VALUES (1, 1, 1, 1, 1100000000, 1100010000, 2, 1), (2, 1, 1, 2, 1200000000, 1200010000, 2, 2);
INSERT INTO rocpd_kernel_dispatch{suffix} (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "end",
        workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id)
    VALUES (1, 1, 1, 1, 2, 1, 1, 1, 1, 1100020000, 1100030000, 256, 1, 1, 1024, 1, 1, 1, 3),
           (2, 1, 1, 2, 3, 1, 2, 2, 1, 1200020000, 1200030000, 256, 1, 1, 1024, 1, 1, 1, 4);
INSERT INTO rocpd_memory_copy{suffix} (id, nid, pid, tid, start, "end", name_id, dst_agent_id, src_agent_id, size, stream_id, event_id)
    VALUES (1, 1, 1, 1, 1100012000, 1100018000, 5, 2, 1, 4096, 1, 5);
INSERT INTO rocpd_track{suffix} (id, nid, pid, tid, name_id) VALUES (1, 1, 1, 1, 7);
INSERT INTO rocpd_sample{suffix} (id, track_id, timestamp, event_id) VALUES (1, 1, 1300000000, 6);
UPDATE rocpd_event{suffix} SET extdata = '{"message":"step"}' WHERE id = 6;
