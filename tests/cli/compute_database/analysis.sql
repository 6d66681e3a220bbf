-- Two workloads as `rocprof-compute analyze` writes them, on one machine.
INSERT INTO compute_metadata VALUES (1, '3.6.0', 'abcdef0', '2.0.0');

INSERT INTO compute_workload VALUES
    (1, 'vcopy', 'MI300X_A1',
     '{"workload_name": "vcopy", "command": "./vcopy -n 1024", "hostname": "gpu-node-1", "gpu_model": "MI300X_A1",
       "gpu_arch": "gfx942", "gpu_chip_id": 29857, "cu_per_gpu": 304, "simd_per_cu": 4, "se_per_gpu": 32, "num_xcd": "8",
       "max_waves_per_cu": 32, "wave_size": 64.0, "max_sclk": 2100, "max_mclk": null, "hbm_bw": 5324.8}',
     '{"HBMBw": 4012.5, "L2Bw": 15000, "FP32Flops": 120000.25}',
     '{"format_rocprof_output": "rocpd"}'),
    (2, 'gemm', 'MI300X_A1', '{"command": "./gemm", "hostname": "gpu-node-1", "gpu_arch": "gfx942", "cu_per_gpu": 304}', NULL, NULL);

INSERT INTO compute_kernel VALUES
    (1, 1, 'vcopy(double const*, double*, int) [clone .kd]'),
    (2, 1, 'void fill<float, 4>(float*, float)'),
    (3, 2, 'Cijk_Ailk_Bljk_HHS_BH_MT128x128x32'),
    (4, 2, 'never_ran()');

INSERT INTO compute_dispatch VALUES
    (1, 1, 0, 2, 1000000, 1012000),
    (2, 2, 1, 2, 1020000, 1025000),
    (3, 1, 2, 3, 1030000, 1041000),
    (4, 3, 0, 2, 5000000, 5900000),
    (5, 3, 1, 2, 6000000, 6890000);

INSERT INTO compute_metric_definition VALUES
    (10, 1, 'Wavefront Occupancy', '2.1.15', 'Wavefronts in flight', 'System Speed-of-Light', 'System Speed-of-Light', 'Wavefronts'),
    (11, 1, 'L2 Hit Rate', '2.1.26', NULL, 'System Speed-of-Light', 'System Speed-of-Light', 'Pct'),
    (12, 2, 'L2 Hit Rate', '2.1.26', 'Share of hits', 'System Speed-of-Light', 'System Speed-of-Light', 'Pct');

INSERT INTO compute_kernel_metric_value VALUES
    (1, 10, 1, 'Avg', 1234.5),
    (2, 10, 1, 'Peak', 9728),
    (3, 11, 1, 'Avg', NULL),
    (4, 11, 2, 'Avg', 12.25),
    (5, 12, 3, 'Avg', 88.125),
    (6, 12, 3, 'Percent of Peak', 88.125);

INSERT INTO compute_workload_metric_value VALUES
    (1, 10, 1, 'Avg', 700.25),
    (2, 12, 2, 'Avg', 88.125);

INSERT INTO compute_kernel_roofline_data VALUES
    (1, 1, 12.5, NULL, 0.05, 0.1, 0.125, NULL),
    (2, 3, 250000.0, NULL, 30.5, 60.25, 120.5, 17.0);

INSERT INTO compute_workload_roofline_data VALUES (1, 1, 11.5, NULL, 0.04, 0.09, 0.12, NULL);

INSERT INTO compute_code_object_store VALUES (1, 1, 4100, 2, 140000), (2, 2, 4200, 2, NULL);

INSERT INTO compute_instruction_line VALUES
    (1, 1, 1, 64, 'vcopy.cpp:12', 's_waitcnt vmcnt(0)'),
    (2, 1, NULL, 72, NULL, 's_endpgm'),
    (3, 2, 3, 64, 'N/A', 'v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]');

INSERT INTO compute_pc_sample_state VALUES (1, 1, 50, 10, 40), (2, 2, 3, NULL, NULL), (3, 3, 200, 150, 50);

INSERT INTO compute_pc_sample_stall_reason_type VALUES (1, 'WAITCNT'), (2, 'ARBITER_NOT_WIN');
INSERT INTO compute_pc_sample_stall_reason VALUES (1, 1, 1, 38), (2, 1, 2, 2), (3, 3, 2, 50);
INSERT INTO compute_instruction_sample_type VALUES (1, 'WAITCNT'), (2, 'MATRIX');
INSERT INTO compute_instruction_sample VALUES (1, 1, 1, 10), (2, 3, 2, 150);
