-- Two processes in two sessions: copies of every direction, a graph launch, a fill, a barrier, operations without calls,
-- marks, and values of other types than declared.
INSERT INTO rocpd_string(id, string) VALUES
    (1, ''), (2, 'hipLaunchKernel'), (3, 'KernelExecution'), (4, 'CopyHostToDevice'), (5, 'hipMemcpy'), (6, 'UserMarker'),
    (7, 'forward'), (8, 'void gemm<float>(float*)'), (9, 'hipExtModuleLaunchKernel'), (10, 'hipGraphLaunch'),
    (11, 'graphExec = 0x10 | stream = 0x20'), (12, 'Task'), (13, 'FillBuffer'), (14, 'Barrier'),
    (15, 'CopyDeviceToDevice'), (16, 'hipMemcpyPeer'), (17, 'hipMalloc'), (18, 'ptr=0x7f00 | size=0x200'),
    (19, 'tick'), (20, 'CopyDeviceToHost2D'), (21, 'main'), (22, 'run'), (23, 'train_step'), (24, 'step 4');
INSERT INTO rocpd_api(id, pid, tid, start, end, apiName_id, args_id) VALUES
    (1, 100, 100, 1000, 9000, 6, 7), (2, 100, 100, 1100, 1200, 2, 1), (3, 100, 101, 1300, 1400, 9, 1),
    (4, 100, 101, 1500, 1600, 5, 1), (5, 100, 101, 1700, 1800, 10, 11), (6, 100, 100, 1900, 2000, 16, 1),
    (7, 100, 100, 2100, 2200, 17, 18), (8, 100, 100, 2300, 2300, 6, 19), (9, 100, 100, 2400, 2500, 5, 1),
    (10, 100, 100, 2600, 2700, 23, 24), (11, 100, '', 2800, 2900, 999, 1),
    (4294967297, 200, 200, 5000, 5100, 2, 1);
INSERT INTO rocpd_op(id, gpuId, queueId, sequenceId, completionSignal, start, end, description_id, opType_id) VALUES
    (1, 2, 0, 0, '', 1250, 1350, 8, 3), (2, 2, 0, 0, '', 1450, 1550, 1, 3), (3, 2, 0, 0, '', 1600, 1650, 1, 4),
    (4, 2, 0, 0, '', 1850, 1860, 8, 12), (5, 2, 0, 0, '', 1870, 1880, 1, 13), (6, 2, 0, 0, '', 1880, 1890, 1, 14),
    (7, 2, 0, 0, '', 2000, 2100, 1, 15), (8, 2, 0, 0, '', 2600, 2700, 1, 20), (9, 2, 0, 0, '', 2700, 2750, 1, 20),
    (10, 3, 1, 0, '', 2800, '', 8, 3), (11, 2, 0, 0, '', 2900, 2950, 777, 3),
    (4294967297, 3, 1, 0, '', 5200, 5300, 8, 3), (4294967298, 3, 1, 0, '', 5400, 5500, 8, 3);
-- The call behind operation 4294967298 was not recorded; nothing is recorded of the one behind 10.
INSERT INTO rocpd_api_ops(api_id, op_id) VALUES (2, 1), (3, 2), (4, 3), (5, 4), (5, 5), (5, 6), (6, 7), (9, 8), (9, 9),
    (2, 11), (4294967297, 4294967297), (4294967299, 4294967298);
INSERT INTO rocpd_kernelapi VALUES (2, '0x0', 4, 2, 1, 64, 2, 1, 512, 16, 8), (3, '0x30', 1024, 1, 1, 256, 1, 1, '', 0, 8),
    (4294967297, '0x40', 1, 1, 1, 32, 1, 1, 0, 0, 8);
INSERT INTO rocpd_copyapi VALUES (4, '0x0', 4096, '', '', 1, '', '', 0, 0, 1, 0), (6, '', 100, '', '', '', '', '', 3, 2, 1, 0),
    (9, '0x0', '', 16, 8, 2, '', '', 0, 0, 1, 0);
INSERT INTO rocpd_stackframe(api_ptr_id, depth, name_id) VALUES (7, 1, 21), (7, 0, 22);
INSERT INTO rocpd_monitor(deviceType, deviceId, monitorType, start, end, value) VALUES ('gpu', 2, 'sclk', 1000, 2000, '1500'),
    ('gpu', 5, 'power', 1000, 2000, '250.5'), ('gpu', 2, 'vram%', 1500, 2000, 'many');
