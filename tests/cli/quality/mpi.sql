-- To base.sql: calls of MPI as rocprofiler-systems records them with MPICH (numbers for datatypes) and with Open MPI (addresses, so
-- that sizes are in its running sums alone), a call with arguments by name, and one of UCX inside another.
INSERT INTO rocpd_string{suffix} (id, string) VALUES (200, 'mpi'), (201, 'ucx'), (202, 'MPI_Isend'), (203, 'MPI_Recv'), (204, 'MPI_Allreduce'),
    (205, 'MPI_Barrier'), (206, 'MPI_Send'), (207, 'MPI_Sendrecv'), (208, 'ucp_tag_send_nbx'), (209, 'MPI Comm Send'), (210, 'comm_data'),
    (211, 'MPI_Bcast');
INSERT INTO rocpd_event{suffix} (id, category_id) SELECT 199 + id, CASE id WHEN 5 THEN 201 ELSE 200 END
    FROM (SELECT 1 AS id UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7
        UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10 UNION ALL SELECT 11);
INSERT INTO rocpd_region{suffix} (id, nid, pid, tid, start, "end", name_id, event_id) VALUES
    (200, 1, 1, 1, 1100000000, 1100002000, 202, 200), (201, 1, 1, 1, 1100002000, 1100003000, 202, 201),
    (202, 1, 1, 2, 1100013000, 1100021000, 203, 202), (203, 1, 1, 1, 1100022000, 1100026000, 204, 203),
    (204, 1, 1, 1, 1100000500, 1100001500, 208, 204), (205, 1, 1, 1, 1100040000, 1100041000, 205, 205),
    (206, 1, 1, 1, 1150000000, 1150010000, 206, 206), (207, 1, 1, 1, 1150020000, 1150040000, 206, 207),
    (208, 1, 1, 1, 1150050000, 1150080000, 206, 208), (209, 1, 1, 2, 1150100000, 1150104000, 207, 209),
    (210, 1, 1, 2, 1150110000, 1150112000, 211, 210);
INSERT INTO rocpd_arg{suffix} (event_id, position, type, name, value) VALUES
    (200, 0, 'void const*', 'arg0-void const*', '0x7f0000000000'), (200, 1, 'int', 'arg1-int', '1000'),
    (200, 2, 'int', 'arg2-int', '1275070475'), (200, 3, 'int', 'arg3-int', '1'), (200, 4, 'int', 'arg4-int', '7'),
    (200, 5, 'int', 'arg5-int', '1140850688'), (200, 6, 'int', 'return', '0'),
    (201, 1, 'int', 'arg1-int', '512'), (201, 2, 'int', 'arg2-int', '1275069450'), (201, 3, 'int', 'arg3-int', '1'),
    (201, 4, 'int', 'arg4-int', '8'), (201, 5, 'int', 'arg5-int', '1140850688'),
    (202, 1, 'int', 'arg1-int', '1000'), (202, 2, 'int', 'arg2-int', '1275070475'), (202, 3, 'int', 'arg3-int', '-2'),
    (202, 4, 'int', 'arg4-int', '7'), (202, 5, 'int', 'arg5-int', '1140850688'),
    (203, 2, 'int', 'count', '256'), (203, 3, 'MPI_Datatype', 'datatype', 'MPI_FLOAT'), (203, 5, 'MPI_Comm', 'comm', 'MPI_COMM_WORLD'),
    (204, 0, 'void*', 'ep', '0x10'), (204, 2, 'unsigned long', 'count', '8000'), (204, 3, 'unsigned long', 'tag', '3'),
    (209, 1, 'int', 'arg1-int', '10'), (209, 2, 'int', 'arg2-int', '1275070475'), (209, 3, 'int', 'arg3-int', '1'),
    (209, 4, 'int', 'arg4-int', '9'), (209, 6, 'int', 'arg6-int', '20'), (209, 7, 'int', 'arg7-int', '1275069450'),
    (209, 8, 'int', 'arg8-int', '3'), (209, 9, 'int', 'arg9-int', '9'), (209, 10, 'int', 'arg10-int', '1140850688'),
    (210, 1, 'int', 'arg1-int', '64'), (210, 2, 'int', 'arg2-int', '1275070475'), (210, 3, 'int', 'arg3-int', '4'),
    (210, 4, 'int', 'arg4-int', '1140850688');
INSERT INTO rocpd_arg{suffix} (event_id, position, type, name, value) SELECT event, place, kind, 'arg' || place || '-' || kind, value
    FROM (SELECT 206 AS event UNION ALL SELECT 207 UNION ALL SELECT 208),
        (SELECT 1 AS place, 'int' AS kind, '64' AS value UNION ALL SELECT 2, 'ompi_datatype_t*', '0x7f12a0c0' UNION ALL SELECT 3, 'int', '2'
            UNION ALL SELECT 4, 'int', '5' UNION ALL SELECT 5, 'ompi_communicator_t*', '0x7f12b000');
-- The sum is 100 in the first call of MPI_Send, 300 in the second, 350 between it and the third, and 1374 in that.
INSERT INTO rocpd_info_pmc{suffix} (id, nid, pid, agent_id, name, symbol, units) VALUES (200, 1, 1, 1, 'MPI Comm Send', 'MPI', 'bytes');
INSERT INTO rocpd_track{suffix} (id, nid, pid, name_id) VALUES (200, 1, 1, 209);
INSERT INTO rocpd_event{suffix} (id, category_id) VALUES (220, 210), (221, 210), (222, 210), (223, 210);
INSERT INTO rocpd_sample{suffix} (track_id, timestamp, event_id) VALUES (200, 1150000100, 220), (200, 1150020100, 221), (200, 1150045000, 222),
    (200, 1150050100, 223);
INSERT INTO rocpd_pmc_event{suffix} (event_id, pmc_id, value) VALUES (220, 200, 100), (221, 200, 300), (222, 200, 350), (223, 200, 1374);
