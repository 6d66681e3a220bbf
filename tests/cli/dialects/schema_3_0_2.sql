-- Graphs, from schema 3.0.2 on: the second dispatch and the copy belong to one.
ALTER TABLE rocpd_kernel_dispatch{suffix} ADD COLUMN graph_exec_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rocpd_kernel_dispatch{suffix} ADD COLUMN graph_node_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rocpd_memory_copy{suffix} ADD COLUMN graph_exec_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rocpd_memory_copy{suffix} ADD COLUMN graph_node_id INTEGER NOT NULL DEFAULT 0;
CREATE TABLE rocpd_graph_launch{suffix} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT DEFAULT '{guid}' NOT NULL,
    nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, agent_id INTEGER, queue_id INTEGER,
    start BIGINT NOT NULL, "end" BIGINT NOT NULL, graph_exec_id INTEGER, kernel_dispatch_count INTEGER,
    event_id INTEGER, extdata JSONB DEFAULT '{}' NOT NULL
);
UPDATE rocpd_kernel_dispatch{suffix} SET graph_exec_id = 9, graph_node_id = 4 WHERE id = 2;
UPDATE rocpd_memory_copy{suffix} SET graph_exec_id = 9 WHERE id = 1;
INSERT INTO rocpd_event{suffix} (id, category_id, stack_id) VALUES (20, 4, 12);
INSERT INTO rocpd_graph_launch{suffix} (id, nid, pid, tid, agent_id, queue_id, start, "end", graph_exec_id, kernel_dispatch_count, event_id)
    VALUES (1, 1, 1, 2, 3, 2, 1200015000, 1200035000, 9, 1, 20);
