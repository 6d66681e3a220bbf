-- Moves an analysis of schema 2.0.0 into the tables of schema 2.3.0, as `src/utils/analysis_orm.py` of rocprofiler-compute declares them.
PRAGMA foreign_keys = OFF;
ALTER TABLE compute_kernel ADD COLUMN short_name VARCHAR;

CREATE TABLE compute_kernel_symbol (
    kernel_symbol_uuid INTEGER NOT NULL, code_object_uuid INTEGER NOT NULL, kernel_uuid INTEGER, code_object_offset INTEGER,
    PRIMARY KEY (kernel_symbol_uuid), UNIQUE (code_object_uuid, kernel_uuid), UNIQUE (code_object_uuid, code_object_offset)
);
INSERT INTO compute_kernel_symbol (kernel_symbol_uuid, code_object_uuid, kernel_uuid)
SELECT 100 + ROW_NUMBER() OVER (ORDER BY code_object_uuid DESC, kernel_uuid), code_object_uuid, kernel_uuid
FROM (SELECT DISTINCT code_object_uuid, kernel_uuid FROM compute_instruction_line);

CREATE TABLE compute_instruction_type_lookup (
    instruction_type_lookup_uuid INTEGER NOT NULL, text VARCHAR, PRIMARY KEY (instruction_type_lookup_uuid), UNIQUE (text)
);
INSERT INTO compute_instruction_type_lookup VALUES (5, 'SCALAR'), (6, 'MATRIX');

CREATE TABLE old_line AS SELECT * FROM compute_instruction_line;
DROP TABLE compute_instruction_line;
CREATE TABLE compute_instruction_line (
    instruction_uuid INTEGER NOT NULL, kernel_symbol_uuid INTEGER NOT NULL, instruction_type_uuid INTEGER,
    code_object_offset INTEGER, instruction TEXT, PRIMARY KEY (instruction_uuid), UNIQUE (kernel_symbol_uuid, code_object_offset)
);
INSERT INTO compute_instruction_line
SELECT l.instruction_uuid, s.kernel_symbol_uuid, CASE WHEN l.instruction LIKE '%mfma%' THEN 6 ELSE 5 END, l.code_object_offset, l.instruction
FROM old_line AS l
JOIN compute_kernel_symbol AS s ON s.code_object_uuid = l.code_object_uuid AND s.kernel_uuid IS l.kernel_uuid;

CREATE TABLE compute_source_file (
    source_file_uuid INTEGER NOT NULL, workload_id INTEGER NOT NULL, file_path TEXT, md5_checksum VARCHAR,
    PRIMARY KEY (source_file_uuid), UNIQUE (workload_id, file_path)
);
CREATE TABLE compute_source_line (
    source_line_uuid INTEGER NOT NULL, source_file_uuid INTEGER NOT NULL, line_number INTEGER, content TEXT,
    PRIMARY KEY (source_line_uuid), UNIQUE (source_file_uuid, line_number)
);
CREATE TABLE compute_instruction_source_line (
    instruction_source_line_uuid INTEGER NOT NULL, instruction_uuid INTEGER NOT NULL, source_line_uuid INTEGER NOT NULL,
    frame_index INTEGER, PRIMARY KEY (instruction_source_line_uuid), UNIQUE (instruction_uuid, frame_index)
);
INSERT INTO compute_source_file VALUES (1, 1, 'vcopy.cpp', NULL), (2, 1, 'copy.h', NULL), (3, 2, 'gemm.cpp', NULL);
INSERT INTO compute_source_line VALUES (11, 1, 12, 'b[i] = a[i];'), (12, 2, 7, NULL), (13, 3, NULL, NULL);
-- The frames of the first instruction, not in their order.
INSERT INTO compute_instruction_source_line VALUES (1, 1, 11, 1), (2, 1, 12, 0), (3, 3, 13, 0);

ALTER TABLE compute_pc_sample_state ADD COLUMN active_thread_percent FLOAT;
ALTER TABLE compute_pc_sample_state ADD COLUMN wave_occupancy_percent FLOAT;
ALTER TABLE compute_pc_sample_state ADD COLUMN dispatch_uuid INTEGER;

ALTER TABLE compute_pc_sample_stall_reason_type RENAME TO compute_pc_sample_stall_reason_lookup;
ALTER TABLE compute_pc_sample_stall_reason_lookup
    RENAME COLUMN pc_sample_stall_reason_type_uuid TO pc_sample_stall_reason_lookup_uuid;
ALTER TABLE compute_pc_sample_stall_reason
    RENAME COLUMN pc_sample_stall_reason_type_uuid TO pc_sample_stall_reason_lookup_uuid;
ALTER TABLE compute_instruction_sample_type RENAME TO compute_instruction_sample_lookup;
ALTER TABLE compute_instruction_sample_lookup RENAME COLUMN instruction_sample_type_uuid TO instruction_sample_lookup_uuid;
ALTER TABLE compute_instruction_sample RENAME COLUMN instruction_sample_type_uuid TO instruction_sample_lookup_uuid;
DROP TABLE old_line;
UPDATE compute_metadata SET schema_version = '2.3.0';
