-- To base.sql: thirty repetitions of three kernels on the first GPU, 100 µs each, and its power: 100 W, from the middle on 300 W.
INSERT INTO rocpd_string{suffix} (id, string) VALUES (90, 'Socket Power [0]');
INSERT OR IGNORE INTO rocpd_string{suffix} (id, string) VALUES (63, 'amd_smi');
INSERT INTO rocpd_info_pmc{suffix} (id, nid, pid, agent_id, name, symbol, units) VALUES (90, 1, 1, 2, 'Socket Power', 'Pow', 'W');
INSERT INTO rocpd_track{suffix} (id, nid, pid, name_id) VALUES (90, 1, 1, 90);
INSERT INTO rocpd_event{suffix} (id, category_id) VALUES (90, 63), (91, 63), (92, 63);
INSERT INTO rocpd_sample{suffix} (track_id, timestamp, event_id)
    VALUES (90, 1500000000, 90), (90, 1501500000, 91), (90, 1503000000, 92);
INSERT INTO rocpd_pmc_event{suffix} (event_id, pmc_id, value) VALUES (90, 90, 100), (91, 90, 300), (92, 90, 300);
INSERT INTO rocpd_info_kernel_symbol{suffix} (id, nid, pid, code_object_id, kernel_name, display_name)
    VALUES (90, 1, 1, 1, 'forward.kd', 'forward'), (91, 1, 1, 1, 'backward.kd', 'backward'), (92, 1, 1, 1, 'update.kd', 'update');
WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 89)
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id)
    SELECT 1000 + n, 4, 1000 + n, 0, 0 FROM numbers;
WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 89)
INSERT INTO rocpd_kernel_dispatch{suffix} (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "end",
        workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id)
    SELECT 1000 + n, 1, 1, 1, 2, 90 + n % 3, 1000 + n, 1, 1, 1500000000 + 100000 * (n / 3) + 30000 * (n % 3),
        1500000000 + 100000 * (n / 3) + 30000 * (n % 3) + 20000, 64, 1, 1, 64, 1, 1, 1, 1000 + n FROM numbers;
