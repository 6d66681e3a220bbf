-- Program counter samples: one by a host trap, one stochastic.
INSERT INTO rocpd_event{suffix} (id, stack_id, line_info, extdata) VALUES
    (80, 11, '{"pc":{"code_object_id":1,"code_object_offset":256}}', '{"dispatch_id":1,"workgroup_id":{"x":0,"y":0,"z":0}}'),
    (81, 12, '{"pc":{"code_object_id":0,"code_object_offset":4096}}', '{"dispatch_id":2,"wave_issued":0,"inst_type":"VALU","wave_count":7,"snapshot":{"stall_reason":"WAITCNT"}}');
INSERT INTO rocpd_sample{suffix} (id, track_id, timestamp, event_id, extdata) VALUES
    (80, 1, 1100021500, 80, '{"sampling_method":"host_trap","instruction":"s_waitcnt lgkmcnt(0)","instruction_comment":"axpy.hip:7","exec_mask":18446744073709551615,"wave_in_group":0,"hw_id":{"chiplet":3,"wave_id":2,"simd_id":1,"cu_or_wgp_id":9,"shader_engine_id":4}}'),
    (81, 1, 1200021500, 81, '{"sampling_method":"stochastic","instruction":"v_add_f32","exec_mask":"0xff","hw_id":{"chiplet":0}}');
