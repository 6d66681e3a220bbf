-- To base.sql: matrix products that hipBLASLt names in ranges, one within a range of its own, and rocBLAS in a mark.
INSERT INTO rocpd_string{suffix} (id, string) VALUES (70, 'roctxRangePushA'), (71, 'MARKER_CORE_RANGE_API');
INSERT INTO rocpd_info_kernel_symbol{suffix} (id, nid, pid, code_object_id, kernel_name, display_name)
    VALUES (70, 1, 1, 1, 'Cijk_Ailk_Bljk_HHS_BH_MT128x128x32.kd', 'Cijk_Ailk_Bljk_HHS_BH_MT128x128x32');
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id, extdata) VALUES
    (70, 71, 70, 0, 0, '{"message":"hipblaslt-bench --api_method c -m 1024 -n 512 -k 256 --transA T --transB N --batch_count 2 --a_type f16_r --b_type f16_r --c_type f16_r --d_type f16_r --compute_type f32_r --solution_index 17"}'),
    (71, 3, 71, 0, 0, '{}'), (72, 4, 71, 71, 0, '{}'),
    (73, 71, 73, 0, 0, '{"message":"hipblaslt-bench --api_method c -m 512 -n 512 -k 512 --transA N --transB N --batch_count 1 --a_type f16_r --b_type f16_r --c_type f16_r --d_type f16_r --compute_type f32_r"}'),
    (74, 71, 74, 73, 0, '{"message":"hipblasLtMatmul"}'),
    (75, 3, 75, 74, 0, '{}'), (76, 4, 75, 75, 0, '{}'),
    (77, 7, 77, 0, 0, '{"message":"./rocblas-bench -f gemm_ex --transposeA N --transposeB N -m 64 -n 64 -k 64 --a_type f32_r --b_type f32_r --c_type f32_r --d_type f32_r --compute_type f32_r"}'),
    (78, 3, 78, 0, 0, '{}'), (79, 4, 78, 78, 0, '{}'),
    (80, 71, 80, 0, 0, '{"message":"hipblaslt-bench without sizes"}');
INSERT INTO rocpd_region{suffix} (id, nid, pid, tid, start, "end", name_id, event_id) VALUES
    (70, 1, 1, 1, 1400000000, 1400100000, 70, 70), (71, 1, 1, 1, 1400010000, 1400020000, 2, 71),
    (73, 1, 1, 1, 1410000000, 1410100000, 70, 73), (74, 1, 1, 1, 1410010000, 1410090000, 70, 74),
    (75, 1, 1, 1, 1410020000, 1410030000, 2, 75), (78, 1, 1, 2, 1420010000, 1420020000, 2, 78),
    (80, 1, 1, 2, 1430000000, 1430010000, 70, 80);
INSERT INTO rocpd_track{suffix} (id, nid, pid, tid, name_id) VALUES (70, 1, 1, 2, 7);
INSERT INTO rocpd_sample{suffix} (id, track_id, timestamp, event_id) VALUES (70, 70, 1420000000, 77);
INSERT INTO rocpd_kernel_dispatch{suffix} (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "end",
        workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id)
    VALUES (70, 1, 1, 1, 2, 70, 70, 1, 1, 1400030000, 1400034000, 256, 1, 1, 1024, 1, 1, 1, 72),
           (71, 1, 1, 1, 2, 70, 71, 1, 1, 1410040000, 1410042000, 256, 1, 1, 1024, 1, 1, 1, 76),
           (72, 1, 1, 2, 3, 70, 72, 2, 1, 1420030000, 1420031000, 256, 1, 1, 1024, 1, 1, 1, 79);
