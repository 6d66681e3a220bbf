-- To base.sql: four steps of a server that marks them as vLLM does, in microseconds from 1.7 s: a prefill, a step of both kinds and two
-- decodes by a HIP graph of two kernels, which was captured before. Calls name their kernels as PyTorch records them.
INSERT OR IGNORE INTO rocpd_string{suffix} (id, string) VALUES (70, 'roctxRangePushA'), (71, 'MARKER_CORE_RANGE_API');
INSERT INTO rocpd_string{suffix} (id, string) VALUES (302, 'hipModuleLaunchKernel'), (303, 'hipGraphLaunch'), (304, 'hipStreamBeginCapture'), (305, 'hipStreamEndCapture');
INSERT INTO rocpd_info_kernel_symbol{suffix} (id, nid, pid, code_object_id, kernel_name, display_name) VALUES
    (300, 1, 1, 1, 'reshape_and_cache_flash_kernel.kd', 'void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16>(int)'),
    (301, 1, 1, 1, '_fwd_kernel.kd', '_fwd_kernel'),
    (302, 1, 1, 1, 'paged_attention.kd', 'void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>(int)'),
    (303, 1, 1, 1, 'argmax.kd', 'triton_red_fused_argmax_0');
-- The ranges of the steps, and two of the PyTorch profiler on another thread.
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id, extdata) VALUES
    (3000, 71, 3000, 0, 0, '{"message":"execute_context_2(512)_generation_0(0)"}'),
    (3001, 71, 3001, 0, 0, '{"message":"execute_context_1(100)_generation_2(2)"}'),
    (3002, 71, 3002, 0, 0, '{"message":"execute_context_0(0)_generation_3(3)"}'),
    (3003, 71, 3003, 0, 0, '{"message":"execute_context_0(0)_generation_3(3)"}'),
    (3004, 71, 3004, 3000, 0, '{"message":"gpu_model_runner: forward"}'),
    (3005, 71, 3005, 0, 0, '{"message":"ProfilerStep#7"}'), (3006, 71, 3006, 0, 0, '{"message":"ProfilerStep#8"}');
INSERT INTO rocpd_region{suffix} (id, nid, pid, tid, start, "end", name_id, event_id) VALUES
    (3000, 1, 1, 1, 1700000000, 1700050000, 70, 3000), (3001, 1, 1, 1, 1700100000, 1700150000, 70, 3001),
    (3002, 1, 1, 1, 1700200000, 1700250000, 70, 3002), (3003, 1, 1, 1, 1700300000, 1700350000, 70, 3003),
    (3004, 1, 1, 1, 1700001000, 1700049000, 70, 3004), (3005, 1, 1, 2, 1700090000, 1700260000, 70, 3005),
    (3006, 1, 1, 2, 1700260000, 1700360000, 70, 3006);
-- Calls: 3010 to 3012 launch the prefill, 3020 and 3021 the mixed step, 3030 and 3040 the graph; 3050 to 3055 are captures, of two kernels and of one.
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id) VALUES
    (3010, 3, 3010, 3004, 0), (3011, 3, 3011, 3004, 0), (3012, 3, 3012, 3004, 0), (3020, 3, 3020, 3001, 0), (3021, 3, 3021, 3001, 0),
    (3030, 3, 3030, 3002, 0), (3040, 3, 3040, 3003, 0),
    (3050, 3, 3050, 0, 0), (3051, 3, 3051, 0, 0), (3052, 3, 3052, 0, 0), (3053, 3, 3053, 0, 0),
    (3054, 3, 3054, 0, 0), (3055, 3, 3055, 0, 0), (3056, 3, 3056, 0, 0);
INSERT INTO rocpd_region{suffix} (id, nid, pid, tid, start, "end", name_id, event_id) VALUES
    (3010, 1, 1, 1, 1700002000, 1700003000, 302, 3010), (3011, 1, 1, 1, 1700004000, 1700005000, 302, 3011),
    (3012, 1, 1, 1, 1700006000, 1700007000, 302, 3012),
    (3020, 1, 1, 1, 1700102000, 1700103000, 302, 3020), (3021, 1, 1, 1, 1700104000, 1700105000, 302, 3021),
    (3030, 1, 1, 1, 1700202000, 1700208000, 303, 3030), (3040, 1, 1, 1, 1700302000, 1700308000, 303, 3040),
    (3050, 1, 1, 1, 1699900000, 1699901000, 304, 3050), (3051, 1, 1, 1, 1699902000, 1699903000, 302, 3051),
    (3052, 1, 1, 1, 1699904000, 1699905000, 302, 3052), (3053, 1, 1, 1, 1699906000, 1699907000, 305, 3053),
    (3054, 1, 1, 1, 1699910000, 1699911000, 304, 3054), (3055, 1, 1, 1, 1699912000, 1699913000, 302, 3055),
    (3056, 1, 1, 1, 1699914000, 1699915000, 305, 3056);
INSERT INTO rocpd_arg{suffix} (event_id, position, type, name, value) VALUES
    (3051, 0, 'string', 'kernel', 'void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>(int)'),
    (3052, 0, 'string', 'kernel', 'triton_red_fused_argmax_0'),
    (3055, 0, 'string', 'kernel', '_fwd_kernel');
-- Kernels and copies that they launched.
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id) VALUES
    (3110, 4, 3010, 3010, 0), (3111, 4, 3011, 3011, 0), (3112, 4, 3012, 3012, 0), (3120, 4, 3020, 3020, 0), (3121, 4, 3021, 3021, 0),
    (3130, 4, 3030, 3030, 0), (3131, 4, 3030, 3030, 0), (3140, 4, 3040, 3040, 0), (3141, 4, 3040, 3040, 0);
INSERT INTO rocpd_kernel_dispatch{suffix} (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "end",
        workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id) VALUES
    (3110, 1, 1, 1, 2, 300, 3110, 1, 1, 1700010000, 1700020000, 64, 1, 1, 32768, 1, 1, 1, 3110),
    (3111, 1, 1, 1, 2, 301, 3111, 1, 1, 1700020000, 1700060000, 64, 1, 1, 4096, 1, 1, 1, 3111),
    (3112, 1, 1, 1, 2, 303, 3112, 1, 1, 1700070000, 1700080000, 64, 1, 1, 64, 1, 1, 1, 3112),
    (3120, 1, 1, 1, 2, 301, 3120, 1, 1, 1700110000, 1700130000, 64, 1, 1, 1024, 1, 1, 1, 3120),
    (3121, 1, 1, 1, 2, 302, 3121, 1, 1, 1700130000, 1700140000, 64, 1, 1, 128, 1, 1, 1, 3121),
    (3130, 1, 1, 1, 2, 302, 3130, 1, 1, 1700210000, 1700230000, 64, 1, 1, 192, 1, 1, 1, 3130),
    (3131, 1, 1, 1, 2, 303, 3131, 2, 1, 1700225000, 1700240000, 64, 1, 1, 64, 1, 1, 1, 3131),
    (3140, 1, 1, 1, 2, 302, 3140, 1, 1, 1700310000, 1700330000, 64, 1, 1, 192, 1, 1, 1, 3140),
    (3141, 1, 1, 1, 2, 303, 3141, 2, 1, 1700335000, 1700345000, 64, 1, 1, 64, 1, 1, 1, 3141);
