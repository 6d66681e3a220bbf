-- HIP events, from schema 3.0.4 on: a record, and a wait for it on another queue.
CREATE TABLE rocpd_hip_event{suffix} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT DEFAULT '{guid}' NOT NULL,
    nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, agent_id INTEGER, name_id INTEGER,
    queue_id INTEGER, stream_id INTEGER, hip_event_handle INTEGER, source_queue_id INTEGER,
    start BIGINT NOT NULL, "end" BIGINT NOT NULL, event_id INTEGER, extdata JSONB DEFAULT '{}' NOT NULL
);
INSERT INTO rocpd_string{suffix} (id, string) VALUES (40, 'HIP_EVENT_RECORD'), (41, 'HIP_EVENT_WAIT');
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id) VALUES (40, 4, 21), (41, 4, 22);
INSERT INTO rocpd_hip_event{suffix} (id, nid, pid, tid, agent_id, name_id, queue_id, stream_id, hip_event_handle, source_queue_id, start, "end", event_id)
    VALUES (1, 1, 1, 1, 2, 40, 1, 1, 4242, 1, 1100030000, 1100031000, 40),
           (2, 1, 1, 2, 3, 41, 2, 1, 4242, 1, 1100030000, 1100040000, 41);
