-- To base.sql: three more copies (blocking, held by an asynchronous call, over an edge in the middle of the span), and memory.
INSERT INTO rocpd_string{suffix} (id, string) VALUES (50, 'hipMemcpy'), (51, 'hipMemcpyAsync'), (52, 'MEMORY_COPY_DEVICE_TO_HOST'),
    (53, 'MEMORY_COPY_DEVICE_TO_DEVICE'), (54, 'hipMalloc'), (55, 'MEMORY_ALLOCATION');
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id, parent_stack_id, correlation_id)
    VALUES (50, 3, 50, 0, 0), (51, 6, 50, 50, 0), (52, 3, 51, 0, 0), (53, 6, 51, 51, 0), (54, 6, 52, 0, 0),
           (55, 3, 53, 0, 0), (56, 55, 53, 53, 0);
INSERT INTO rocpd_region{suffix} (id, nid, pid, tid, start, "end", name_id, event_id)
    VALUES (50, 1, 1, 1, 1399999000, 1400003000, 50, 50), (51, 1, 1, 1, 1500000000, 1500010000, 51, 52),
           (52, 1, 1, 1, 1600000000, 1600000100, 54, 55);
INSERT INTO rocpd_memory_copy{suffix} (id, nid, pid, tid, start, "end", name_id, dst_agent_id, src_agent_id, size, stream_id, event_id)
    VALUES (50, 1, 1, 1, 1400000000, 1400002000, 5, 2, 1, 8192, 1, 51),
           (51, 1, 1, 1, 1500002000, 1500004000, 52, 1, 2, 2048, 1, 53),
           (52, 1, 1, 1, 1300004000, 1300012000, 53, 2, 2, 8000, 1, 54);
INSERT INTO rocpd_memory_allocate{suffix} (id, nid, pid, tid, agent_id, type, level, start, "end", address, size, event_id)
    VALUES (1, 1, 1, 1, 2, 'ALLOC', 'REAL', 1600000000, 1600000100, 4096, 100, 56),
           (2, 1, 1, 1, 2, 'ALLOC', 'REAL', 1600001000, 1600001100, 8192, 50, NULL),
           (3, 1, 1, 1, NULL, 'FREE', 'REAL', 1600002100, 1600002200, 4096, 0, NULL),
           (4, 1, 1, 1, 2, 'ALLOC', 'REAL', 1600003000, 1600003100, 12288, 200, NULL),
           (5, 1, 1, 1, 2, 'ALLOC', 'REAL', 1600004000, 1600004100, 4096, 100, NULL),
           (6, 1, 1, 1, NULL, 'FREE', 'REAL', 1600005000, 1600005100, 999424, 0, NULL);
