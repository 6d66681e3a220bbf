-- Schema 3, as a tracer on rocprofiler-sdk writes it: arguments as JSON in a table of their own, domains and categories,
-- grids in work-items, no GPU of copies.
CREATE TABLE "rocpd_metadata" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "tag" varchar(4096) NOT NULL, "value" varchar(4096) NOT NULL);
CREATE TABLE "rocpd_string" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "string" varchar(4096) NOT NULL);
CREATE TABLE "rocpd_ustring" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "string" varchar(4096) NOT NULL);
CREATE TABLE "rocpd_api" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "pid" integer NOT NULL, "tid" integer NOT NULL, "start" integer NOT NULL, "end" integer NOT NULL, "apiName_id" bigint NOT NULL, "category_id" bigint NOT NULL, "domain_id" bigint NOT NULL, "args_id" bigint NOT NULL);
CREATE TABLE "rocpd_copyapi" ("api_ptr_id" bigint NOT NULL PRIMARY KEY, "stream" varchar(18) NOT NULL, "size" integer NOT NULL, "width" integer NOT NULL, "height" integer NOT NULL, "kind" integer NOT NULL, "dst" varchar(18) NOT NULL, "src" varchar(18) NOT NULL, "dstDevice" integer NOT NULL, "srcDevice" integer NOT NULL, "sync" bool NOT NULL, "pinned" bool NOT NULL);
CREATE TABLE "rocpd_kernelapi" ("api_ptr_id" bigint NOT NULL PRIMARY KEY, "stream" varchar(18) NOT NULL, "gridX" integer NOT NULL, "gridY" integer NOT NULL, "gridZ" integer NOT NULL, "workgroupX" integer NOT NULL, "workgroupY" integer NOT NULL, "workgroupZ" integer NOT NULL, "groupSegmentSize" integer NOT NULL, "privateSegmentSize" integer NOT NULL, "kernelName_id" bigint NOT NULL);
CREATE TABLE "rocpd_op" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "gpuId" integer NOT NULL, "queueId" integer NOT NULL, "sequenceId" integer NOT NULL, "start" integer NOT NULL, "end" integer NOT NULL, "description_id" bigint NOT NULL, "opType_id" bigint NOT NULL);
CREATE TABLE "rocpd_api_ops" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "api_id" bigint NOT NULL, "op_id" bigint NOT NULL);
INSERT INTO rocpd_metadata(tag, value) VALUES ('schema_version', '3');
INSERT INTO rocpd_string(id, string) VALUES (1, ''), (2, 'hip'), (3, 'roctx'), (4, 'range'), (5, 'UserMarker'),
    (6, 'hipLaunchKernel'), (7, 'KernelExecution'), (8, 'MEMORY_COPY_HOST_TO_DEVICE'), (9, 'saxpy(int, float*)'), (10, 'hipMemcpy');
INSERT INTO rocpd_ustring(id, string) VALUES (1, ''), (2, '{"numBlocks":"{4,1,1}","stream":"0x0"}'), (3, 'epoch 1');
INSERT INTO rocpd_api(id, pid, tid, start, end, apiName_id, category_id, domain_id, args_id) VALUES
    (1, 7, 7, 1000, 2000, 5, 4, 3, 3), (2, 7, 7, 1100, 1200, 6, 1, 2, 2), (3, 7, 7, 1300, 1400, 10, 1, 2, 1);
INSERT INTO rocpd_op(id, gpuId, queueId, sequenceId, start, end, description_id, opType_id) VALUES
    (1, 1, 140000000000000, 0, 1250, 1290, 9, 7), (2, 0, 0, 0, 1320, 1390, 1, 8);
INSERT INTO rocpd_api_ops(api_id, op_id) VALUES (2, 1), (3, 2);
INSERT INTO rocpd_kernelapi VALUES (2, '0x0', 1024, 1, 1, 256, 1, 1, 0, 0, 9);
INSERT INTO rocpd_copyapi VALUES (3, '0x0', 64, 0, 0, 8, '', '', 2, 0, 1, 0);
