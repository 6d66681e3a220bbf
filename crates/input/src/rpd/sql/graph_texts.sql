id IN (SELECT args_id FROM rocpd_api WHERE "apiName_id" IN ({ids}))
