-- Schema 4.1.0 as drafted: rows lie on tracks, which hold the ids of the operating system; categories have a table.
CREATE TABLE rocpd_metadata{suffix} (id INTEGER PRIMARY KEY, tag TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE rocpd_string{suffix} (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
CREATE TABLE rocpd_info_category{suffix} (id INTEGER PRIMARY KEY, guid TEXT, name TEXT, extdata JSONB);
CREATE TABLE rocpd_info_node{suffix} (id INTEGER PRIMARY KEY, guid TEXT, hash BIGINT, machine_id TEXT, hostname TEXT);
CREATE TABLE rocpd_info_process{suffix} (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, ppid INTEGER, pid INTEGER, init BIGINT, fini BIGINT, start BIGINT, "end" BIGINT, command TEXT);
CREATE TABLE rocpd_info_thread{suffix} (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, ppid INTEGER, pid INTEGER, tid INTEGER, name TEXT);
CREATE TABLE rocpd_info_agent{suffix} (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER, type_index INTEGER, name TEXT, generic_name TEXT, product_name TEXT);
CREATE TABLE rocpd_info_kernel_symbol{suffix} (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, kernel_name TEXT, display_name TEXT);
CREATE TABLE rocpd_info_pmc{suffix} (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, agent_id INTEGER, name TEXT, qualifier TEXT, units TEXT);
CREATE TABLE rocpd_track{suffix} (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, ppid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, queue_id INTEGER, stream_id INTEGER, name_id INTEGER);
CREATE TABLE rocpd_event{suffix} (id INTEGER PRIMARY KEY, guid TEXT, category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, extdata JSONB);
CREATE TABLE rocpd_call_stack{suffix} (id INTEGER PRIMARY KEY, guid TEXT);
CREATE TABLE rocpd_pmc_event{suffix} (id INTEGER PRIMARY KEY, guid TEXT, event_id INTEGER, pmc_id INTEGER, value REAL);
CREATE TABLE rocpd_region{suffix} (id INTEGER PRIMARY KEY, guid TEXT, track_id INTEGER, start BIGINT, "end" BIGINT, name_id INTEGER, event_id INTEGER);
CREATE TABLE rocpd_sample{suffix} (id INTEGER PRIMARY KEY, guid TEXT, track_id INTEGER, name_id INTEGER, timestamp BIGINT, event_id INTEGER, extdata JSONB);
CREATE TABLE rocpd_kernel_dispatch{suffix} (id INTEGER PRIMARY KEY, guid TEXT, track_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, start BIGINT, "end" BIGINT,
    workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER);
CREATE TABLE rocpd_memory_copy{suffix} (id INTEGER PRIMARY KEY, guid TEXT, track_id INTEGER, start BIGINT, "end" BIGINT, name_id INTEGER, dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER, event_id INTEGER);
CREATE TABLE rocpd_memory_allocate{suffix} (id INTEGER PRIMARY KEY, guid TEXT, track_id INTEGER, name_id INTEGER, region_name_id INTEGER, type TEXT, level TEXT, start BIGINT, "end" BIGINT, address INTEGER, size INTEGER, event_id INTEGER);
INSERT INTO rocpd_metadata{suffix} (tag, value) VALUES ('guid', '{guid}'), ('schema_version', '4.1.0');
INSERT INTO rocpd_string{suffix} (id, string) VALUES (1, 'hipMalloc'), (2, 'hipGetDevice'), (3, 'MEMORY_COPY_DEVICE_TO_HOST'), (4, 'Thread'), (5, 'Power');
INSERT INTO rocpd_info_category{suffix} (id, name) VALUES (1, 'HIP_RUNTIME_API'), (2, 'KERNEL_DISPATCH');
INSERT INTO rocpd_info_node{suffix} (id, hash, machine_id) VALUES (1, 77, 'machine');
-- Two processes in one partition; the row of the second thread has the number of the first as its id.
INSERT INTO rocpd_info_process{suffix} (id, nid, pid, start, "end") VALUES (1, 1, 5001, 1000000000, 2000000000), (2, 1, 5002, 1000000000, 2000000000);
INSERT INTO rocpd_info_thread{suffix} (id, nid, pid, tid, name) VALUES (1, 1, 1, 6001, 'main'), (6001, 1, 2, 6002, 'other');
INSERT INTO rocpd_info_agent{suffix} (id, nid, pid, type, absolute_index, type_index, name, generic_name)
    VALUES (1, 1, 1, 'CPU', 0, 0, 'my cpu', 'EPYC'), (2, 1, 1, 'GPU', 1, 0, 'my gpu', 'gfx942'), (3, 1, 2, 'GPU', 2, 0, 'my gpu', 'gfx942');
INSERT INTO rocpd_info_kernel_symbol{suffix} (id, nid, pid, display_name) VALUES (1, 1, 1, 'axpy(float*)'), (2, 1, 2, 'gemm');
INSERT INTO rocpd_info_pmc{suffix} (id, nid, pid, name, units) VALUES (1, 1, 1, 'Power', 'W');
INSERT INTO rocpd_track{suffix} (id, nid, pid, tid, agent_id, queue_id, stream_id, name_id)
    VALUES (1, 1, 5001, 6001, NULL, NULL, NULL, 4), (2, 1, 5001, 6001, 2, 31, 41, NULL), (3, 1, 5002, 6002, 3, 32, 42, NULL), (4, 1, 5001, NULL, 2, NULL, NULL, 5);
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id) VALUES (1, 1, 11), (2, 1, 12), (3, 2, 11), (4, 2, 13), (5, NULL, 0);
INSERT INTO rocpd_region{suffix} (id, track_id, start, "end", name_id, event_id) VALUES (1, 1, 1100000000, 1100010000, 1, 1);
INSERT INTO rocpd_sample{suffix} (id, track_id, name_id, timestamp, event_id) VALUES (1, 1, 2, 1200000000, 2), (2, 4, NULL, 1300000000, 5);
INSERT INTO rocpd_pmc_event{suffix} (event_id, pmc_id, value) VALUES (5, 1, 300);
INSERT INTO rocpd_kernel_dispatch{suffix} VALUES (1, NULL, 2, 1, 1, 1100020000, 1100030000, 64, 1, 1, 64, 1, 1, 3), (2, NULL, 3, 2, 1, 1100020000, 1100030000, 64, 1, 1, 64, 1, 1, 4);
INSERT INTO rocpd_memory_copy{suffix} VALUES (1, NULL, 2, 1400000000, 1400010000, 3, 1, 2, 512, NULL);
INSERT INTO rocpd_memory_allocate{suffix} VALUES (1, NULL, 2, NULL, NULL, 'ALLOC', 'REAL', 1050000000, 1050010000, 4096, 512, NULL);
