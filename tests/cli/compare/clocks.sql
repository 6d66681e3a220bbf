-- To base.sql: 400 dispatches of one kernel on the second GPU, whose clock is sampled once.
INSERT INTO rocpd_string{suffix} (id, string) VALUES (60, 'GFX Clock [0]'), (63, 'amd_smi');
INSERT INTO rocpd_info_pmc{suffix} (id, nid, pid, agent_id, name, symbol, units) VALUES (60, 1, 1, 3, 'GFX Clock', 'Clk', 'MHz');
INSERT INTO rocpd_track{suffix} (id, nid, pid, name_id) VALUES (60, 1, 1, 60);
INSERT INTO rocpd_event{suffix} (id, category_id) VALUES (60, 63);
INSERT INTO rocpd_sample{suffix} (track_id, timestamp, event_id) VALUES (60, 1200000000, 60);
INSERT INTO rocpd_pmc_event{suffix} (event_id, pmc_id, value) VALUES (60, 60, CLOCK);
WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < 400)
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id)
    SELECT 100 + i, 4, 100 + i, 100 + i, 0 FROM number;
WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < 400)
INSERT INTO rocpd_kernel_dispatch{suffix} (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "end",
        workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id)
    SELECT 100 + i, 1, 1, 2, 3, 1, 100 + i, 2, 1, 1250000000 + i * 500000, 1250000000 + i * 500000 + DURATION + i % 7 * 40,
        256, 1, 1, 1024, 1, 1, 1, 100 + i FROM number;
