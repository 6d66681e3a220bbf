(typeof(description_id) = 'integer' AND typeof("opType_id") = 'integer' AND description_id NOT IN ({ids}) AND "opType_id" NOT IN ({ids})) IS NOT 1
