(typeof("end") = 'integer' AND "end" < {earliest}) IS NOT 1
