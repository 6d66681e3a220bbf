-- To base.sql: a third dispatch on the second GPU, and samples of that GPU.
INSERT INTO rocpd_string{suffix} (id, string) VALUES (60, 'GFX Clock [0]'), (61, 'Power [0]'), (62, 'Temperature [0]'), (63, 'amd_smi');
INSERT INTO rocpd_info_pmc{suffix} (id, nid, pid, agent_id, name, symbol, units)
    VALUES (60, 1, 1, 3, 'GFX Clock', 'Clk', 'MHz'), (61, 1, 1, 3, 'Power', 'Pow', 'W'), (62, 1, 1, 3, 'Temperature', 'Temp', 'C');
INSERT INTO rocpd_track{suffix} (id, nid, pid, name_id) VALUES (60, 1, 1, 60), (61, 1, 1, 61), (62, 1, 1, 62);
INSERT INTO rocpd_event{suffix} (id, category_id) VALUES (60, 63), (61, 63);
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id) VALUES (62, 4, 62, 62, 0);
INSERT INTO rocpd_sample{suffix} (track_id, timestamp, event_id)
    VALUES (60, 1200000000, 60), (61, 1200000000, 60), (62, 1200000000, 60), (60, 1200025000, 61);
INSERT INTO rocpd_pmc_event{suffix} (event_id, pmc_id, value) VALUES (60, 60, 2000), (60, 61, 500), (60, 62, 95), (61, 60, 1000);
INSERT INTO rocpd_kernel_dispatch{suffix} (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "end",
        workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id)
    VALUES (3, 1, 1, 2, 3, 1, 3, 2, 1, 1250000000, 1250010000, 256, 1, 1, 1024, 1, 1, 1, 62);
