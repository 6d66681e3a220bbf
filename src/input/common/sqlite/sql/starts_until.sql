(typeof("start") = 'integer' AND "start" > {latest}) IS NOT 1
