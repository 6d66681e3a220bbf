-- Moves an analysis of schema 2.3.0 into the tables of schema 3.0.0.
DROP TABLE compute_workload_roofline_data;
ALTER TABLE compute_kernel_roofline_data ADD COLUMN kernel_rank INTEGER;
ALTER TABLE compute_kernel_roofline_data ADD COLUMN dispatch_count INTEGER;
ALTER TABLE compute_kernel_roofline_data ADD COLUMN total_duration_ns FLOAT;
ALTER TABLE compute_kernel_roofline_data ADD COLUMN percent_runtime FLOAT;
UPDATE compute_kernel_roofline_data SET kernel_rank = 0, dispatch_count = 2, total_duration_ns = 23000, percent_runtime = 82.5
WHERE kernel_uuid = 1;

CREATE TABLE compute_roofline_bandwidth_ceiling (
    ceiling_uuid INTEGER NOT NULL PRIMARY KEY, workload_id INTEGER NOT NULL, device_id INTEGER, mem_level VARCHAR,
    benchmark_column VARCHAR, bandwidth FLOAT, UNIQUE (workload_id, device_id, mem_level)
);
INSERT INTO compute_roofline_bandwidth_ceiling VALUES
    (1, 1, 0, 'HBM', 'HBMBw', 4012.5), (2, 1, 0, 'L2', 'L2Bw', 15000), (3, 1, 1, 'HBM', 'HBMBw', 4000), (4, 2, 0, 'MALL', 'MALLBw', 9000.5);
CREATE TABLE compute_roofline_compute_ceiling (
    ceiling_uuid INTEGER NOT NULL PRIMARY KEY, workload_id INTEGER NOT NULL, device_id INTEGER, benchmark_column VARCHAR,
    datatype VARCHAR, pipe VARCHAR, pipe_label VARCHAR, peak FLOAT, unit VARCHAR
);
INSERT INTO compute_roofline_compute_ceiling VALUES (1, 1, 0, 'FP32Flops', 'FP32', 'VALU', 'VALU', 120000.25, 'GFLOP/s');
CREATE TABLE compute_kernel_roofline_point (
    point_uuid INTEGER NOT NULL PRIMARY KEY, kernel_uuid INTEGER NOT NULL, envelope VARCHAR, mem_level VARCHAR,
    arithmetic_intensity FLOAT, performance FLOAT, roof_performance FLOAT, percent_of_roof FLOAT
);
INSERT INTO compute_kernel_roofline_point VALUES
    (1, 1, 'FP32', 'HBM', 0.125, 12.5, 501.5, 2.5), (2, 3, 'MEMORY', 'HBM', 120.5, 250000, NULL, NULL);
CREATE TABLE compute_kernel_roofline_limiter (
    limiter_uuid INTEGER NOT NULL PRIMARY KEY, kernel_uuid INTEGER NOT NULL, envelope VARCHAR, limiter VARCHAR,
    compute_ceiling FLOAT, compute_ceiling_label VARCHAR
);
INSERT INTO compute_kernel_roofline_limiter VALUES (1, 1, 'FP32', 'HBM', 120000.25, 'VALU');
CREATE TABLE compute_kernel_roofline_metric (
    metric_row_uuid INTEGER NOT NULL PRIMARY KEY, kernel_uuid INTEGER NOT NULL, table_id INTEGER, metric_id VARCHAR,
    metric VARCHAR, unit VARCHAR, value FLOAT, peak FLOAT, percent_of_peak FLOAT
);
INSERT INTO compute_kernel_roofline_metric VALUES (1, 1, 402, '4.2.0', 'AI HBM', 'Flops/byte', 0.125, NULL, NULL);
UPDATE compute_metadata SET schema_version = '3.0.0';
