SELECT gpuId, opType_id, (SELECT string FROM rocpd_string WHERE rocpd_string.id = opType_id)
FROM (SELECT DISTINCT gpuId, opType_id FROM rocpd_op)
