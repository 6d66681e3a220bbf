-- To base.sql: a fill by a call that blocks, and one by a call that does not; the first GPU as a product, with its memory.
INSERT INTO rocpd_string{suffix} (id, string) VALUES (83, 'hipMemset'), (84, 'hipMemsetAsync');
INSERT INTO rocpd_info_kernel_symbol{suffix} (id, nid, pid, code_object_id, kernel_name, display_name)
    VALUES (83, 1, 1, 1, '__amd_rocclr_fillBufferAligned.kd', '__amd_rocclr_fillBufferAligned');
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id)
    VALUES (83, 3, 83, 0, 0), (84, 4, 83, 83, 0), (85, 3, 85, 0, 0), (86, 4, 85, 85, 0);
INSERT INTO rocpd_region{suffix} (id, nid, pid, tid, start, "end", name_id, event_id)
    VALUES (83, 1, 1, 1, 1350000000, 1350020000, 83, 83), (85, 1, 1, 1, 1360000000, 1360002000, 84, 85);
INSERT INTO rocpd_kernel_dispatch{suffix} (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "end",
        workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id)
    VALUES (83, 1, 1, 1, 2, 83, 83, 1, 1, 1350005000, 1350015000, 256, 1, 1, 1024, 1, 1, 1, 84),
           (85, 1, 1, 1, 2, 83, 85, 1, 1, 1360005000, 1360009000, 256, 1, 1, 1024, 1, 1, 1, 86);
UPDATE rocpd_info_agent{suffix} SET product_name = 'AMD Instinct MI300X' WHERE id IN (2, 3);
UPDATE rocpd_info_agent{suffix} SET extdata = '{"mem_banks":[{"size_in_bytes":206141652992}]}' WHERE id = 2;
