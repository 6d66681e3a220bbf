-- Replayed kernels, from schema 3.0.5 on: dispatch 1 ran twice more, each time for another counter.
ALTER TABLE rocpd_kernel_dispatch{suffix} ADD COLUMN replay_pass INTEGER;
INSERT INTO rocpd_info_pmc{suffix} (id, nid, pid, agent_id, name, symbol)
    VALUES (50, 1, 1, 2, 'GRBM_COUNT', 'GRBM_COUNT'), (51, 1, 1, 2, 'TCC_HIT', 'TCC_HIT'), (52, 1, 1, 2, 'TCC_MISS', 'TCC_MISS');
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id) VALUES (50, 4, 11), (51, 4, 11);
INSERT INTO rocpd_kernel_dispatch{suffix} (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "end",
        workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, replay_pass, event_id)
    VALUES (50, 1, 1, 1, 2, 1, 1, 1, 1, 1110020000, 1110030000, 256, 1, 1, 1024, 1, 1, 1, 50),
           (51, 1, 1, 1, 2, 1, 1, 1, 1, 1120020000, 1120030000, 256, 1, 1, 1024, 1, 1, 2, 51);
UPDATE rocpd_kernel_dispatch{suffix} SET replay_pass = 0 WHERE id = 1;
INSERT INTO rocpd_pmc_event{suffix} (event_id, pmc_id, value) VALUES (3, 50, 7), (50, 51, 8), (51, 52, 9), (51, 52, 1);
