-- Statements as people write them, each up to its semicolon; statements.py compares every one with DuckDB, names and values.
-- A statement after `-- refused:` is refused, with these words in the message.

SELECT count(*) FROM kernels;
SELECT count(*), count(duration_ns), count(DISTINCT kernel_name) FROM kernels;
SELECT min(start_ns), max(end_ns) FROM kernels;
SELECT min(duration_ns), max(duration_ns), avg(duration_ns), sum(duration_ns), median(duration_ns) FROM kernels;
select COUNT(*), MIN(Duration_NS), Max(duration_ns) as Longest from kernels;
SELECT avg(duration_ns) / 1000 FROM kernels;
SELECT duration_ns/1000, duration_ns / 1000.0 AS us, duration_ns // 1000, duration_ns % 1000 FROM kernels ORDER BY start_ns, dispatch_id, process LIMIT 5;
SELECT sum(duration_ns) / 1e6 AS ms, 1e6, 2.5e-3 AS small, 1e0 FROM kernels;
SELECT rank, count(*) FROM kernels GROUP BY rank ORDER BY rank;
SELECT rank, gpu, sum(duration_ns) FROM kernels GROUP BY rank, gpu ORDER BY 1, 2;
SELECT rank, gpu, sum(duration_ns) AS total_ns FROM kernels GROUP BY ALL ORDER BY ALL;
SELECT category, count(*) AS n, sum(duration_ns) / 1e6 AS ms FROM kernels GROUP BY category ORDER BY ms DESC LIMIT 3;
SELECT kernel_name, count(*) n FROM kernels GROUP BY kernel_name HAVING count(*) > 20 ORDER BY n DESC, kernel_name;
SELECT short_name, max(duration_ns) - min(duration_ns) AS spread FROM kernels GROUP BY 1 ORDER BY 2 DESC, 1;
SELECT DISTINCT category FROM kernels ORDER BY category;
SELECT DISTINCT rank, gpu FROM kernels ORDER BY rank DESC, gpu;
SELECT * FROM memory_copies ORDER BY process, copy_id LIMIT 3;
SELECT process, dispatch_id, kernel_name FROM kernels WHERE duration_ns > 400000 ORDER BY duration_ns DESC, process, dispatch_id;
SELECT count(*) FROM kernels WHERE kernel_name LIKE 'nccl%';
SELECT count(*) FROM kernels WHERE kernel_name NOT LIKE '%gemm%' AND kernel_name ILIKE '%NCCL%';
SELECT count(*) FROM kernels WHERE regexp_matches(kernel_name, '^Cijk_A.*MI16');
SELECT DISTINCT regexp_replace(short_name, '_.*', '') FROM kernels ORDER BY 1;
SELECT DISTINCT regexp_replace(short_name, '[0-9]+', 'N', 'g') AS shape FROM kernels ORDER BY shape;
SELECT DISTINCT regexp_replace(kernel_name, '(MT)([0-9]+)x([0-9]+)', '\1:\3') AS tile FROM kernels ORDER BY tile;
SELECT DISTINCT regexp_extract(kernel_name, 'MT([0-9]+)x', 1) AS tile FROM kernels ORDER BY tile;
SELECT DISTINCT upper(category), lower(category), length(category) FROM kernels ORDER BY 1;
SELECT DISTINCT substr(kernel_name, 1, 4) AS begin, left(kernel_name, 2), right(kernel_name, 2) FROM kernels ORDER BY 1, 2, 3;
SELECT DISTINCT replace(category, 'e', 'E'), concat(category, '-', rank), category || '/' || rank FROM kernels ORDER BY 1, 2;
SELECT DISTINCT split_part(kernel_name, '_', 1), strpos(kernel_name, '_'), reverse(category), trim(category) FROM kernels ORDER BY 1, 2, 3;
SELECT DISTINCT starts_with(kernel_name, 'Cijk'), contains(kernel_name, 'nccl') FROM kernels ORDER BY 1, 2;
SELECT rank, count(*) FILTER (WHERE category = 'gemm') AS gemms, sum(duration_ns) FILTER (WHERE category = 'communication') FROM kernels GROUP BY rank ORDER BY rank;
SELECT sum(CASE WHEN category = 'gemm' THEN duration_ns ELSE 0 END) AS gemm_ns, 100.0 * sum(CASE WHEN category = 'gemm' THEN duration_ns END) / sum(duration_ns) AS gemm_pct FROM kernels;
SELECT CASE WHEN duration_ns < 100000 THEN 'short' WHEN duration_ns < 300000 THEN 'middle' ELSE 'long' END AS kind, count(*) FROM kernels GROUP BY kind ORDER BY kind;
SELECT CASE gpu WHEN 0 THEN 'first' ELSE 'other' END, count(*) FROM kernels GROUP BY 1 ORDER BY 1;
SELECT coalesce(region_name, 'none') AS region, count(*) FROM kernels GROUP BY region ORDER BY region;
SELECT nullif(gpu, 0), ifnull(graph_exec_id, -1), greatest(gpu, 2), least(gpu, 1) FROM kernels ORDER BY process, dispatch_id LIMIT 4;
SELECT count(*) FROM kernels WHERE gpu IN (0, 1) AND duration_ns BETWEEN 100000 AND 200000;
SELECT count(*) FROM kernels WHERE graph_exec_id IS NULL AND NOT valid IS FALSE;
SELECT k.start_ns, r.start_ns FROM kernels k JOIN regions r ON r.process = k.process AND r.correlation_id = k.correlation_id ORDER BY k.process, k.dispatch_id, r.region_id LIMIT 4;
SELECT k.*, c.bytes FROM kernels k JOIN memory_copies c ON c.process = k.process AND c.copy_id = k.dispatch_id ORDER BY k.process, k.dispatch_id LIMIT 3;
SELECT * FROM (SELECT rank, max(end_ns) FROM kernels GROUP BY rank) ORDER BY rank;
SELECT r.name, count(*), avg(k.start_ns - r.end_ns) FROM kernels k JOIN regions r ON r.process = k.process AND r.correlation_id = k.correlation_id GROUP BY r.name ORDER BY r.name;
SELECT p.hostname, count(*) AS n FROM kernels k JOIN processes p USING (process) GROUP BY p.hostname ORDER BY p.hostname;
-- refused: equal columns
SELECT p.rank, count(c.copy_id) FROM processes p LEFT JOIN memory_copies c ON c.process = p.process AND c.bytes > 1000000 GROUP BY p.rank ORDER BY p.rank;
SELECT p.rank, count(c.copy_id) FROM processes p LEFT JOIN (SELECT * FROM memory_copies WHERE bytes > 1000000) c ON c.process = p.process GROUP BY p.rank ORDER BY p.rank;
SELECT a.rank, b.rank FROM processes a, processes b WHERE a.rank < b.rank ORDER BY 1, 2;
SELECT count(*) FROM kernels a CROSS JOIN processes b;
SELECT process, dispatch_id FROM kernels WHERE duration_ns = (SELECT max(duration_ns) FROM kernels) ORDER BY 1, 2;
SELECT count(*) FROM kernels WHERE duration_ns > 2 * (SELECT avg(duration_ns) FROM kernels);
SELECT rank, sum(duration_ns) * 100.0 / (SELECT sum(duration_ns) FROM kernels) AS pct FROM kernels GROUP BY rank ORDER BY rank;
SELECT (SELECT avg(duration_ns) / max(end_ns) FROM kernels) AS share, (SELECT stddev(duration_ns) / 1e12 FROM kernels) AS small;
SELECT x FROM (VALUES (CAST('590.3871311313933' AS DOUBLE)), (CAST('-1e-9' AS DOUBLE))) AS t(x) ORDER BY x;
SELECT (SELECT count(*) FROM kernels) AS kernels, (SELECT count(*) FROM memory_copies) AS copies;
SELECT duration_ns - (SELECT min(duration_ns) FROM kernels) FROM kernels ORDER BY duration_ns, process, dispatch_id LIMIT 3;
SELECT count(*) FROM kernels WHERE correlation_id IN (SELECT correlation_id FROM regions WHERE domain = 'hip');
SELECT count(*) FROM regions r WHERE EXISTS (SELECT 1 FROM kernels k WHERE k.process = r.process AND k.correlation_id = r.correlation_id);
WITH totals AS (SELECT rank, sum(duration_ns) AS total_ns FROM kernels GROUP BY rank) SELECT rank, total_ns, total_ns - (SELECT min(total_ns) FROM totals) AS behind_ns FROM totals ORDER BY rank;
WITH a AS (SELECT gpu, duration_ns FROM kernels), b AS (SELECT gpu, avg(duration_ns) AS mean_ns FROM a GROUP BY gpu) SELECT * FROM b ORDER BY gpu;
SELECT rank, start_ns, start_ns - lag(end_ns) OVER (PARTITION BY process, gpu ORDER BY start_ns, dispatch_id) AS gap_ns FROM kernels ORDER BY process, gpu, start_ns, dispatch_id LIMIT 8;
SELECT dispatch_id, lead(start_ns, 2) OVER (PARTITION BY process ORDER BY dispatch_id), lag(dispatch_id, 1, -1) OVER (PARTITION BY process ORDER BY dispatch_id) FROM kernels ORDER BY process, dispatch_id LIMIT 6;
SELECT process, dispatch_id, row_number() OVER (PARTITION BY process ORDER BY duration_ns DESC, dispatch_id) AS place FROM kernels ORDER BY process, place LIMIT 9;
SELECT process, dispatch_id, rank() OVER (ORDER BY workgroup_x), dense_rank() OVER (ORDER BY workgroup_x DESC) FROM kernels ORDER BY process, dispatch_id LIMIT 9;
SELECT process, dispatch_id, percent_rank() OVER (ORDER BY duration_ns) AS p, cume_dist() OVER (PARTITION BY gpu ORDER BY duration_ns) AS c FROM kernels ORDER BY process, dispatch_id LIMIT 9;
SELECT tile, count(*), min(duration_ns), max(duration_ns) FROM (SELECT duration_ns, ntile(4) OVER (ORDER BY duration_ns, process, dispatch_id) AS tile FROM kernels) GROUP BY tile ORDER BY tile;
SELECT ntile(5) OVER (PARTITION BY rank ORDER BY duration_ns, dispatch_id) FROM kernels ORDER BY process, dispatch_id;
SELECT dispatch_id, avg(duration_ns) OVER (PARTITION BY process ORDER BY dispatch_id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM kernels ORDER BY process, dispatch_id LIMIT 8;
SELECT dispatch_id, sum(duration_ns) OVER w AS s, count(*) OVER w AS n, min(duration_ns) OVER w, max(duration_ns) OVER w FROM kernels WINDOW w AS (PARTITION BY process ORDER BY dispatch_id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) ORDER BY process, dispatch_id LIMIT 8;
SELECT dispatch_id, sum(duration_ns) OVER (PARTITION BY process ORDER BY dispatch_id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS rest FROM kernels ORDER BY process, dispatch_id LIMIT 8;
SELECT dispatch_id, sum(duration_ns) OVER (PARTITION BY process ORDER BY dispatch_id) AS running_ns FROM kernels ORDER BY process, dispatch_id LIMIT 8;
SELECT gpu, dispatch_id, sum(duration_ns) OVER (PARTITION BY process ORDER BY gpu) AS with_peers, count(*) OVER (PARTITION BY process ORDER BY gpu) AS n FROM kernels ORDER BY process, dispatch_id LIMIT 8;
SELECT dispatch_id, count(*) OVER (PARTITION BY process ORDER BY start_ns RANGE BETWEEN 100000 PRECEDING AND CURRENT ROW) AS recent FROM kernels ORDER BY process, dispatch_id LIMIT 12;
SELECT rank, duration_ns, 100.0 * duration_ns / sum(duration_ns) OVER (PARTITION BY rank) AS pct, sum(duration_ns) OVER () FROM kernels ORDER BY process, dispatch_id LIMIT 4;
SELECT dispatch_id, first_value(duration_ns) OVER (PARTITION BY process ORDER BY dispatch_id), last_value(duration_ns) OVER (PARTITION BY process ORDER BY dispatch_id) FROM kernels ORDER BY process, dispatch_id LIMIT 4;
SELECT process, dispatch_id, row_number() OVER (PARTITION BY process ORDER BY gpu DESC, start_ns ASC, dispatch_id) AS place FROM kernels ORDER BY process, place LIMIT 9;
SELECT category, count(*) AS n, rank() OVER (ORDER BY count(*) DESC) AS place FROM kernels GROUP BY category ORDER BY place, category;
SELECT category, sum(duration_ns) AS total_ns, 100.0 * sum(duration_ns) / sum(sum(duration_ns)) OVER () AS pct FROM kernels GROUP BY category ORDER BY total_ns DESC;
SELECT * FROM (SELECT rank, kernel_name, duration_ns, row_number() OVER (PARTITION BY rank ORDER BY duration_ns DESC, dispatch_id) AS place FROM kernels) WHERE place <= 2 ORDER BY rank, place;
SELECT rank, kernel_name, duration_ns FROM kernels QUALIFY row_number() OVER (PARTITION BY rank ORDER BY duration_ns DESC, dispatch_id) = 1 ORDER BY rank;
SELECT quantile_cont(duration_ns, 0.5), quantile_cont(duration_ns, 0.99) AS p99_ns, quantile_disc(duration_ns, 0.9) FROM kernels;
SELECT gpu, quantile(duration_ns, 0.25) FROM kernels GROUP BY gpu ORDER BY gpu;
SELECT gpu, quantile_disc(gpu, 0.5) AS a, quantile_cont(gpu + 1, 0.5) AS b, quantile_disc(gpu + rank, 0.9) AS c FROM kernels GROUP BY gpu, rank ORDER BY gpu, rank;
SELECT gpu FROM kernels GROUP BY gpu HAVING quantile_cont(gpu, 0.5) > 1 ORDER BY gpu;
SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_ns) AS p95_ns FROM kernels;
SELECT stddev(duration_ns), stddev_samp(duration_ns), variance(duration_ns), var_samp(duration_ns) FROM kernels;
SELECT stddev_pop(duration_ns), var_pop(duration_ns) FROM kernels;
SELECT rank, any_value(category), count_if(gpu = 0), bool_and(valid), bool_or(gpu > 0) FROM kernels WHERE category = 'gemm' GROUP BY rank ORDER BY rank;
SELECT rank, arg_max(kernel_name, duration_ns), arg_min(dispatch_id, start_ns) FROM kernels GROUP BY rank ORDER BY rank;
SELECT corr(duration_ns, grid_x), covar_pop(duration_ns, grid_x) FROM kernels;
SELECT rank, string_agg(DISTINCT category, ',' ORDER BY category) AS categories FROM kernels GROUP BY rank ORDER BY rank;
SELECT abs(-3), ceil(2.1), floor(2.9), round(2.567, 2), sqrt(16), ln(10), log10(1000), log2(8), exp(1), power(2, 10), mod(7, 3), sign(-2);
SELECT round(duration_ns / 1000.0, 1) AS us, CAST(duration_ns AS DOUBLE), duration_ns::VARCHAR, CAST(duration_ns / 1000 AS BIGINT) FROM kernels ORDER BY process, dispatch_id LIMIT 4;
SELECT floor(duration_ns / 50000) * 50 AS bin_us, count(*) FROM kernels GROUP BY bin_us ORDER BY bin_us;
SELECT rank, 'kernels' AS source, sum(duration_ns) AS total_ns FROM kernels GROUP BY rank UNION ALL SELECT rank, 'copies', sum(duration_ns) FROM memory_copies GROUP BY rank ORDER BY source, rank;
SELECT correlation_id FROM kernels WHERE process = 0 INTERSECT SELECT correlation_id FROM regions WHERE process = 0 ORDER BY 1 LIMIT 3;
SELECT gpu FROM kernels EXCEPT SELECT gpu FROM memory_copies WHERE bytes > 1000000000 ORDER BY gpu;
SELECT start_ns, start_ns, duration_ns AS start_ns FROM kernels ORDER BY process, dispatch_id LIMIT 2;
SELECT 1, 1, 'a', 'a', NULL, true;
SELECT gpu + 1, gpu * 2 AS twice, -gpu, NOT valid, gpu = 1, gpu IS NULL FROM kernels ORDER BY process, dispatch_id LIMIT 3;
SELECT count(*) AS n FROM kernels WHERE start_ns > (SELECT min(start_ns) + 1e6 FROM kernels);
SELECT (end_ns - start_ns) / 1e3 AS us, bytes / (end_ns - start_ns) AS gb_per_s FROM memory_copies ORDER BY process, copy_id LIMIT 3;
SELECT direction, sum(bytes) / sum(duration_ns) AS gb_per_s, max(bytes) FROM memory_copies GROUP BY direction ORDER BY direction;
SELECT rank FROM kernels GROUP BY rank ORDER BY sum(duration_ns) DESC, rank LIMIT 1 OFFSET 1;
SELECT kernel_name FROM kernels ORDER BY duration_ns DESC NULLS LAST, process, dispatch_id LIMIT 3;
SELECT gpu AS "my gpu", count(*) AS "number of kernels" FROM kernels GROUP BY "my gpu" ORDER BY "my gpu";
SELECT d, count(*) FROM (SELECT date_part AS d FROM (SELECT gpu AS date_part FROM kernels)) GROUP BY d ORDER BY d;
SELECT rank, avg(n), max(n) FROM (SELECT rank, gpu, count(*) AS n FROM kernels GROUP BY rank, gpu) AS per_gpu GROUP BY rank ORDER BY rank;
SELECT k.kernel_name, s.total FROM kernels k JOIN (SELECT kernel_name, sum(duration_ns) AS total FROM kernels GROUP BY kernel_name) s ON s.kernel_name = k.kernel_name WHERE k.process = 0 ORDER BY k.dispatch_id LIMIT 3;
SELECT sum(gpu), avg(gpu), sum(lds_bytes), max(scratch_bytes) FROM kernels WHERE rank = 99;
SELECT count(*), sum(duration_ns) FROM kernels WHERE false;
SELECT t.n FROM (VALUES (1), (2), (3)) AS t(n) WHERE t.n > 1 ORDER BY t.n;
SELECT COUNT(*), SUM(1), SUM(1 + 1), SUM(CASE WHEN TRUE THEN 2 ELSE 0 END), COUNT(*) FILTER (WHERE TRUE), MAX(3), SUM(1.5) FROM kernels;
SELECT rank, SUM(1), COUNT(1), AVG(2), SUM(1) * 1.0 / COUNT(*) FROM kernels GROUP BY rank HAVING SUM(1) > 1 ORDER BY rank;
SELECT COUNT(1), SUM(1), MAX(3), MIN(4), AVG(2) FROM kernels WHERE gpu = 99;
SELECT dispatch_id, process, SUM(1) OVER (PARTITION BY rank), SUM(2) OVER () FROM kernels ORDER BY process, dispatch_id;
SELECT contains(kernel_name, '.'), contains(kernel_name, '('), strpos(kernel_name, '('), instr(kernel_name, '.'), COUNT(*) FROM kernels GROUP BY ALL ORDER BY ALL;
SELECT log(duration_ns) FROM kernels ORDER BY 1;

-- Whole numbers are exact or refused.
SELECT max(start_ns) * 1000, -max(start_ns), max(start_ns) + max(end_ns), abs(min(start_ns) - max(end_ns)) FROM kernels;
-- refused: 9223372036854775807 + 1 overflows
SELECT 9223372036854775807 + 1;
-- refused: overflows 64-bit integers; cast an operand to DOUBLE
SELECT start_ns * start_ns FROM kernels;
-- refused: overflows 64-bit integers; cast an operand to DOUBLE
SELECT start_ns FROM kernels WHERE start_ns * start_ns > 5;
-- refused: -9223372036854775807 - 2 overflows
SELECT -9223372036854775807 - 2 - gpu FROM kernels;
-- refused: overflows 64-bit integers; cast an operand to DOUBLE
SELECT -(-9223372036854775807 - 1 + gpu * 0) FROM kernels;
-- refused: abs(-9223372036854775808) overflows
SELECT abs(-9223372036854775807 - 1 + gpu * 0) FROM kernels;
-- refused: overflows 64-bit integers; cast an operand to DOUBLE
SELECT sum(end_ns) * 1000000000 FROM kernels GROUP BY rank;
SELECT CASE WHEN duration_ns < 100000 THEN duration_ns * duration_ns ELSE 0 END AS squared, CASE WHEN start_ns < 1000 THEN start_ns * start_ns * start_ns ELSE -1 END FROM kernels ORDER BY process, dispatch_id;
SELECT -9223372036854775808, -9223372036854775808 + 1, 9223372036854775807 - 1, -5 - -7;
SELECT count(graph_exec_id) - count(*), length(category) - 50, strpos(kernel_name, '_') - 100 FROM kernels GROUP BY ALL ORDER BY ALL;
SELECT a - b, -a FROM (SELECT count(graph_exec_id) AS a, count(*) AS b FROM kernels);
WITH c AS (SELECT rank, count(*) AS n, count(*) FILTER (WHERE gpu = 0) AS zero FROM kernels GROUP BY rank) SELECT rank, zero - n FROM c ORDER BY rank;
SELECT power(10, 30), pow(2, 3), 2 ^ 70, power(gpu, 2) FROM kernels ORDER BY process, dispatch_id LIMIT 3;
SELECT round(start_ns), round(start_ns, -3), round(duration_ns, 2), round(2.5), round(-2.5), round(1250, -2) FROM kernels ORDER BY process, dispatch_id LIMIT 5;

-- Casts round as DuckDB does: decimals away from zero, floats to the even number.
SELECT CAST(2.5 AS INT), CAST(3.5 AS INT), CAST(-2.5 AS INT), CAST(0.5 AS BIGINT), 1.5::INT, CAST(2.5e0 AS INT), CAST(-1.5e0 AS BIGINT), CAST(5 / 2 AS INT), CAST(7 / 2 AS INT);
SELECT CAST(duration_ns * 0.5 AS BIGINT), CAST(duration_ns / 2 AS BIGINT), CAST(duration_ns * 0.5e0 AS BIGINT), CAST(-duration_ns * 0.5 AS BIGINT) FROM kernels ORDER BY process, dispatch_id;
SELECT CAST(x AS INT) FROM (SELECT 2.5 AS x UNION ALL SELECT 3.5 UNION ALL SELECT 1) ORDER BY 1;
WITH t AS (SELECT gpu + 0.5 AS x, gpu + 0.5e0 AS y FROM kernels) SELECT DISTINCT CAST(x AS INT), CAST(y AS INT), CAST(x + 1 AS INT) FROM t ORDER BY 1, 2;
SELECT CAST(sum(n) AS INT), CAST(avg(n) AS INT), CAST(median(n) AS INT), CAST(max(n) AS INT) FROM (VALUES (0.5), (1.0), (2.5)) t(n);
SELECT CAST(coalesce(NULL, 2.5) AS INT), CAST(abs(-2.5) AS INT), CAST(CASE WHEN true THEN 2.5 ELSE 1 END AS INT), CAST(CASE WHEN true THEN 2.5 ELSE 1e0 END AS INT), CAST(greatest(2.5, 1) AS INT), CAST(nullif(2.5, 1) AS INT);
SELECT CAST('2.5' AS INT), CAST(' 12 ' AS BIGINT), CAST('-2.5' AS INT), CAST('1e3' AS BIGINT), CAST(true AS INT), CAST(NULL AS INT);
SELECT TRY_CAST(category AS INT), TRY_CAST(1e19 AS BIGINT), TRY_CAST('2.5' AS INT), TRY_CAST(3000000000 AS INT), TRY_CAST('' AS INT), TRY_CAST(300 AS TINYINT), TRY_CAST(-1 AS UBIGINT) FROM kernels;
SELECT CAST(duration_ns / 3 AS BIGINT) FROM kernels WHERE false;
-- refused: is out of range for INTEGER
SELECT CAST(3e9 AS INT);
-- refused: is out of range for BIGINT
SELECT CAST(1e19 AS BIGINT);
-- refused: is out of range for INTEGER
SELECT CAST(start_ns AS INT) FROM kernels;
-- refused: 'abc' cannot be cast to INTEGER
SELECT CAST('abc' AS INT);
-- refused: type HUGEINT
SELECT CAST(duration_ns AS HUGEINT) FROM kernels;
-- refused: type DECIMAL(10,2)
SELECT CAST(duration_ns AS DECIMAL(10, 2)) FROM kernels;

-- Parts of texts.
SELECT substr('hello', 0), substr('hello', -2), substr('hello', -2, 1), substr('hello', 0, 2), substr('hello', -10, 7), substr('hello', 2, -1), substr('hello', -3, -2), substr('hello', 10), substr('hello', 3, 0), substring('hello' FROM -3 FOR 2), substring('hello' FOR 2);
SELECT a, b, substr('kernel', a, b), substr('kernel', a) FROM (VALUES (-9), (-6), (-5), (-1), (0), (1), (2), (6), (7), (9), (NULL)) s(a), (VALUES (-9), (-2), (-1), (0), (1), (3), (9), (NULL)) l(b) ORDER BY a, b;
SELECT DISTINCT substr(kernel_name, -4), substr(kernel_name, gpu), substring(kernel_name, length(kernel_name) - 3, 2) FROM kernels ORDER BY 1, 2, 3;
SELECT substr(NULL, 1), substr('a', NULL), substr(category, 2) FROM kernels WHERE gpu = 99;
SELECT DISTINCT position('_' IN kernel_name), position('(' IN kernel_name), position('.' IN category) FROM kernels ORDER BY 1, 2, 3;
SELECT DISTINCT category SIMILAR TO 'g.*', category NOT SIMILAR TO 'g', category ~ 'ge', category !~ 'gemm', category LIKE 'g!_%' ESCAPE '!', category ILIKE 'GE!%' ESCAPE '!', 'a_b' LIKE 'a!_b' ESCAPE '!' FROM kernels ORDER BY ALL;

-- Missing keys never match.
WITH a(k, l) AS (VALUES (1, 'p'), (2, 'q'), (NULL, 'r')), b(k, m) AS (VALUES (1, 'P'), (1, 'PP'), (NULL, 'R'), (3, 'S')) SELECT * FROM a NATURAL JOIN b ORDER BY ALL;
WITH a(k, l) AS (VALUES (1, 'p'), (2, 'q'), (NULL, 'r')), b(k, m) AS (VALUES (1, 'P'), (1, 'PP'), (NULL, 'R'), (3, 'S')) SELECT * FROM a NATURAL LEFT JOIN b ORDER BY ALL;
WITH a(k, l) AS (VALUES (1, 'p'), (2, 'q'), (NULL, 'r')), b(k, m) AS (VALUES (1, 'P'), (1, 'PP'), (NULL, 'R'), (3, 'S')) SELECT * FROM a NATURAL RIGHT JOIN b ORDER BY ALL;
WITH a(k, l) AS (VALUES (1, 'p'), (2, 'q'), (NULL, 'r')), b(k, m) AS (VALUES (1, 'P'), (1, 'PP'), (NULL, 'R'), (3, 'S')) SELECT * FROM a NATURAL FULL JOIN b ORDER BY ALL;
WITH a(k, l) AS (VALUES (1, 'p'), (2, 'q'), (NULL, 'r')), b(k, m) AS (VALUES (1, 'P'), (1, 'PP'), (NULL, 'R'), (3, 'S')) SELECT k, a.k AS l, b.k AS r FROM a FULL JOIN b USING (k) ORDER BY ALL;
WITH a(k) AS (VALUES (1), (NULL)), b(k) AS (VALUES (1), (3)) SELECT k, count(*) FROM a FULL JOIN b USING (k) GROUP BY k ORDER BY k;
SELECT count(*), count(stream_id) FROM kernels NATURAL JOIN memory_copies;
SELECT * FROM queues NATURAL JOIN processes ORDER BY process, queue_id LIMIT 3;
-- refused: have no column in common
SELECT * FROM kernels NATURAL JOIN (SELECT 5 AS zz);
SELECT count(*) FROM kernels a JOIN kernels b ON a.graph_exec_id = b.graph_exec_id;

-- DISTINCT ON takes the first row of each key in the order of the query.
SELECT DISTINCT ON (rank) rank, kernel_name, duration_ns FROM kernels ORDER BY duration_ns DESC, dispatch_id, process;
SELECT DISTINCT ON (gpu, category) dispatch_id, duration_ns AS d FROM kernels ORDER BY d, dispatch_id, process;
SELECT DISTINCT ON (k) category AS k, duration_ns FROM kernels ORDER BY 2 DESC, start_ns, dispatch_id, process LIMIT 2;
SELECT DISTINCT ON (gpu % 2) * FROM kernels ORDER BY start_ns DESC, dispatch_id, process;
SELECT DISTINCT ON (rank) rank FROM kernels ORDER BY rank DESC;
SELECT DISTINCT ON (x) x, z FROM (VALUES (1, 10, 'a'), (1, 5, 'b'), (2, 7, 'c'), (NULL, 1, 'e'), (NULL, 0, 'f')) v(x, y, z) ORDER BY y;
-- refused: DISTINCT ON over a join
SELECT DISTINCT ON (k.rank) k.rank FROM kernels k JOIN processes p USING (process);
-- refused: DISTINCT ON over groups
SELECT DISTINCT ON (rank) rank, count(*) FROM kernels GROUP BY rank, gpu;
SELECT * FROM kernels QUALIFY row_number() OVER (PARTITION BY rank ORDER BY duration_ns DESC, dispatch_id, process) = 1 ORDER BY rank;

-- SEMI and ANTI JOIN give the left side.
SELECT * FROM processes p SEMI JOIN memory_copies c ON c.process = p.process ORDER BY process;
SELECT * FROM processes ANTI JOIN memory_copies USING (process) ORDER BY process;
SELECT p.*, rank FROM processes p ANTI JOIN memory_copies c ON c.process = p.process ORDER BY p.process;
SELECT count(*), sum(duration_ns) FROM kernels SEMI JOIN regions ON kernels.correlation_id = regions.correlation_id AND kernels.process = regions.process WHERE gpu = 0;
WITH a(k, l) AS (VALUES (1, 'p'), (2, 'q'), (NULL, 'r')), b(k, m) AS (VALUES (1, 'P'), (1, 'PP'), (NULL, 'R')) SELECT * FROM a ANTI JOIN b ON a.k = b.k ORDER BY k;
WITH a(k, l) AS (VALUES (1, 'p'), (2, 'q'), (NULL, 'r')), b(k, m) AS (VALUES (1, 'P'), (1, 'PP'), (NULL, 'R')) SELECT * FROM a NATURAL SEMI JOIN b;
-- refused: by equal columns alone
SELECT * FROM kernels k SEMI JOIN regions r ON k.start_ns > r.start_ns;

-- Conditions of joins.
SELECT count(*) FROM kernels k JOIN regions r ON (r.process = k.process AND r.correlation_id = k.correlation_id);
SELECT count(*) FROM kernels k JOIN processes p ON k.process = p.process AND k.gpu = 0 AND p.rank IS NOT NULL;
SELECT count(*) FROM kernels k JOIN kernels o ON k.process = o.process AND k.start_ns BETWEEN o.start_ns AND o.end_ns WHERE k.gpu <> o.gpu;
SELECT count(*) FROM processes p JOIN kernels k ON p.process = k.process OR p.rank = k.gpu;
SELECT count(*) FROM processes a JOIN processes b ON true;
SELECT a.process, b.process FROM processes a JOIN processes b ON a.process < b.process AND (a.rank = 0 OR b.rank = 1) ORDER BY ALL;

-- Subqueries.
SELECT exists(SELECT 1 FROM kernels WHERE gpu = 0) AS a, exists(SELECT 1 FROM kernels WHERE gpu = 99) AS b, NOT EXISTS (SELECT 1 FROM kernels) AS c;
SELECT rank, CASE WHEN EXISTS (SELECT 1 FROM memory_copies) THEN 1 ELSE 0 END FROM processes WHERE exists(SELECT 1 FROM kernels) OR rank = 5 ORDER BY rank;
SELECT count(*) FROM kernels WHERE duration_ns IN (SELECT CAST(duration_ns / 1 AS BIGINT) FROM kernels WHERE gpu = 0);
SELECT count(*) FROM regions r WHERE NOT (EXISTS (SELECT 1 FROM kernels)) OR (r.domain = 'hip');
SELECT count(*) FROM regions r WHERE (NOT EXISTS (SELECT 1 FROM kernels k WHERE k.process = r.process AND k.correlation_id = r.correlation_id)) AND (r.process = 0);
-- refused: use SEMI JOIN
SELECT process, exists(SELECT 1 FROM kernels k WHERE k.process = p.process) FROM processes p;
-- refused: polars has IN (SELECT …) in WHERE alone
SELECT gpu IN (SELECT gpu FROM memory_copies) FROM kernels;
SELECT * FROM (WITH t AS (SELECT rank, CAST(avg(duration_ns) AS BIGINT) AS mean FROM kernels GROUP BY rank) SELECT mean, rank FROM t) ORDER BY rank;
WITH Totals AS (SELECT rank, round(avg(duration_ns) / 1000, 1) AS us FROM kernels GROUP BY rank) SELECT us FROM Totals t ORDER BY t.rank;
SELECT sum(duration_ns) FROM kernels HAVING sum(duration_ns) > 1;
SELECT max(gpu) - min(gpu) AS spread FROM kernels HAVING count(*) < 1;

-- Values and set operations.
SELECT sum(1), count(1), max(2), sum(n) FROM (VALUES (1), (2)) t(n);
SELECT n, sum(1) OVER () FROM (VALUES (1), (2)) t(n) ORDER BY n;
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) ORDER BY 1;
SELECT * FROM (VALUES (1), (2.5), (NULL)) t(n) ORDER BY n;
SELECT * FROM (VALUES (-1), (1 + 1)) t(n) ORDER BY n;
SELECT s, n, n * 2 AS twice FROM (VALUES ('a', NULL), ('b', 3), ('c', -4611686018427387904)) t(s, n) ORDER BY s;
SELECT n - 1, n // 2 FROM (VALUES (5), (521101429046792), (-9223372036854775807)) t(n) ORDER BY n;
SELECT split_part('a,b', ',', 2), split_part('a,b', ',', 1), split_part('a,b', ',', 0);
SELECT count(*), sum(2), 7 // 2 WHERE true;
SELECT 7 // 2 WHERE false;
WITH v AS (VALUES (1, 2.5), (NULL, 3)) SELECT * FROM v ORDER BY ALL;
SELECT rank, word FROM processes JOIN (VALUES (0, 'zero'), (1, 'one'), (NULL, 'none')) v(rank, word) USING (rank) ORDER BY rank;
SELECT a, b, a // b, a % b, mod(a, b) FROM (VALUES (7), (-7), (6), (0), (NULL)) x(a), (VALUES (2), (-2), (3), (-3)) y(b) ORDER BY a, b;
SELECT 7 // -2, -7 // -2, 7 % -3, -7 % -3, 7.5 // 2, duration_ns * 0.5 // 4, CAST(7 // 2 AS INT), duration_ns // -1000, -duration_ns % 7, duration_ns % -7 FROM kernels ORDER BY process, dispatch_id;
SELECT n FROM ((SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 2) EXCEPT SELECT 2) UNION ALL SELECT 3 ORDER BY n;
SELECT 1 AS n UNION (SELECT 2 EXCEPT SELECT 3) ORDER BY n;
(SELECT gpu FROM kernels EXCEPT SELECT 0) UNION (SELECT gpu FROM kernels INTERSECT SELECT 1) ORDER BY gpu;
SELECT valid IS TRUE, valid IS NOT TRUE, x IS NOT FALSE, x IS UNKNOWN FROM (SELECT valid, nullif(valid, true) AS x FROM kernels) GROUP BY ALL ORDER BY ALL;
SELECT gpu AND valid, gpu OR gpu, NOT gpu, CASE WHEN gpu THEN 1 END FROM kernels WHERE gpu OR valid ORDER BY process, dispatch_id;
SELECT min(DISTINCT gpu), max(DISTINCT category), count(DISTINCT category) FROM kernels WHERE gpu;
SELECT DISTINCT trim(category, 'gm'), trim(both 'g' FROM category), ltrim(category, 'g'), rtrim(category, 'm') FROM kernels ORDER BY ALL;
SELECT DISTINCT left(category, -1), right(category, -2), split_part(kernel_name, '_', -1), split_part(kernel_name, '_', 99), concat(category, NULL, gpu) FROM kernels ORDER BY ALL;
SELECT processes.*, rank, 1 FROM processes ORDER BY process;
SELECT count(*) FROM kernels WHERE CAST(kernel_name AS VARCHAR) > 'a' AND TRY_CAST(kernel_name AS DOUBLE) IS NULL;
-- refused: group by it
SELECT gpu, sum(gpu) FROM kernels;
-- refused: group by it
SELECT max(gpu) - rank FROM kernels;
-- refused: aggregate of an aggregate
SELECT max(sum(gpu)) FROM kernels;
-- refused: of distinct values
SELECT sum(DISTINCT gpu) FROM kernels;

-- Operators bind as in DuckDB.
SELECT count(*) FROM kernels WHERE gpu IS DISTINCT FROM 1 AND rank = 0;
SELECT count(*) FROM kernels WHERE gpu IS NOT DISTINCT FROM 1 AND duration_ns > 100000 OR rank = 3;
SELECT count(*) FROM kernels WHERE NOT gpu IS DISTINCT FROM 1 AND category IS DISTINCT FROM 'gemm' OR valid IS NULL;
SELECT gpu IS DISTINCT FROM NULL AND valid AS a, NULL IS NOT DISTINCT FROM graph_exec_id OR gpu = 1 AS b, count(*) FROM kernels GROUP BY ALL ORDER BY ALL;
SELECT count(*) FILTER (WHERE region_name IS DISTINCT FROM 'a' AND gpu = 0), sum(CASE WHEN gpu IS DISTINCT FROM 0 AND valid THEN 1 END) FROM kernels;
SELECT rank, count(*) FROM kernels GROUP BY rank HAVING count(*) IS DISTINCT FROM 3 AND rank > 0 ORDER BY rank;
SELECT 2 + 3 ^ 2, 10 - 2 ^ 2 * 3, -2 ^ 2, 2 ^ 3 ^ 2, 1 + 2 || 'a', 'a' || 1 + 2, 4 - 2 & 3, 1 | 2 & 0;

-- A subquery that gives a text, or stands next to windows and groups.
SELECT count(*) FROM kernels WHERE category = (SELECT max(category) FROM kernels);
SELECT (SELECT min(kernel_name) FROM kernels) AS first, (SELECT max(direction) FROM memory_copies) || '!' AS last, (SELECT max(message) FROM regions WHERE rank = 99) AS none;
SELECT category, rank() OVER (ORDER BY count(*)) AS place, sum(sum(gpu)) OVER () AS whole, (SELECT count(*) FROM kernels) AS n FROM kernels GROUP BY category ORDER BY category;
SELECT category, count(*) AS n FROM kernels GROUP BY category ORDER BY count(*) / (SELECT count(*) FROM kernels), category;
SELECT row_number() OVER (ORDER BY start_ns, dispatch_id, process) AS w, (SELECT max(v) FROM (SELECT row_number() OVER (ORDER BY start_ns) AS v FROM kernels)) AS n FROM kernels ORDER BY w LIMIT 3;
SELECT rank FROM processes WHERE EXISTS (SELECT 1 FROM kernels WHERE rank = 0 AND valid) ORDER BY rank;

-- Aggregates of nothing, and of several arguments.
SELECT var_pop(gpu), stddev_pop(gpu), count_if(gpu = 0), bool_or(valid), quantile_cont(gpu, 0.5) FROM kernels WHERE false;
SELECT var_pop(graph_exec_id), stddev_pop(graph_exec_id), count_if(graph_exec_id = 1), count_if(NULL), count_if(gpu = 99) FROM kernels;
SELECT rank, count_if(gpu > 1), var_pop(gpu), count_if(graph_exec_id > 0) FILTER (WHERE gpu = 0) FROM kernels GROUP BY rank ORDER BY rank;
SELECT quantile_cont(duration_ns, 0.5) FILTER (WHERE gpu = 0) AS a, quantile_disc(duration_ns, 0.9) FILTER (WHERE category = 'gemm') AS b, arg_max(gpu, duration_ns) FILTER (WHERE rank = 0) AS c FROM kernels;
SELECT rank, quantile_cont(duration_ns, 0.25) FILTER (WHERE gpu % 2 = 0) FROM kernels GROUP BY rank ORDER BY rank;
SELECT quantile_disc(duration_ns, 0.5) AS a FROM kernels ORDER BY a;
SELECT corr(duration_ns, grid_x) AS a, covar_pop(gpu, grid_x) AS b FROM kernels ORDER BY ALL;
SELECT count(*) FROM (SELECT quantile_cont(gpu, 0.5) AS a FROM kernels);
SELECT 'x' AS k, count(*) FROM kernels WHERE gpu = 99 GROUP BY k;
SELECT 'x' AS k, rank AS r, count(*) FROM kernels GROUP BY k, r HAVING count(*) > 1 ORDER BY r;
SELECT 'x' AS a, count(*) OVER () AS b FROM kernels ORDER BY process, dispatch_id LIMIT 3;

-- Names in HAVING are keys, then items; in an aggregate they are columns.
SELECT rank, sum(duration_ns) AS duration_ns FROM kernels GROUP BY rank HAVING duration_ns > 8000000 ORDER BY rank;
SELECT rank, max(gpu) AS gpu FROM kernels GROUP BY rank HAVING gpu = 3 AND sum(gpu) > 1 ORDER BY rank;
SELECT gpu, -gpu AS rank, count(*) FROM kernels GROUP BY gpu, rank HAVING rank < -1;
SELECT gpu, -gpu AS rank, count(*) FROM kernels GROUP BY gpu HAVING rank < -1 ORDER BY gpu;
SELECT category AS c, count(*) AS n FROM kernels GROUP BY c HAVING c = 'gemm' OR n > 50 ORDER BY c;
SELECT rank % 2 AS odd, count(*) FROM kernels GROUP BY 1 HAVING odd = 1;
-- refused: which is a column and another item of that name
SELECT -duration_ns AS duration_ns FROM kernels ORDER BY duration_ns + 1;

-- Dictionaries next to texts, and places in missing texts.
SELECT k.category, v.n, count(*) FROM kernels k JOIN (VALUES ('gemm', 1), ('copy', 2)) v(word, n) ON v.word = k.category GROUP BY ALL ORDER BY ALL;
SELECT v.word, k.category, count(*) FROM (VALUES ('gemm'), ('no such')) v(word) LEFT JOIN kernels k ON k.category = v.word GROUP BY ALL ORDER BY ALL;
SELECT strpos(message, 'a'), contains(message, 'e'), position('s' IN message), count(*) FROM regions GROUP BY ALL ORDER BY ALL;

-- refused: times are nanoseconds since a start
SELECT CAST(start_ns AS TIMESTAMP) FROM kernels;
-- refused: times are nanoseconds since a start
SELECT start_ns::DATETIME FROM kernels;
-- refused: times are nanoseconds since a start
SELECT DATE '2026-01-01';
-- refused: times are nanoseconds since a start
SELECT EXTRACT(year FROM start_ns) FROM kernels;

-- Keys that are computed, however they are written, and what is computed of keys.
SELECT region_id IN (7, 1000) AS listed, tid, count(*) AS n FROM regions GROUP BY ALL ORDER BY ALL;
SELECT CASE WHEN region_id NOT IN (7, NULL) THEN rank END AS k, count(*) AS n FROM regions GROUP BY ALL ORDER BY ALL;
SELECT substr(name, 2, 1) AS letter, count(*) AS n FROM regions GROUP BY letter HAVING count(*) > 1 ORDER BY letter;
SELECT round(tid / 3, 1) * 2 AS k, count(*) AS n FROM regions GROUP BY round(tid / 3, 1) ORDER BY round(tid / 3, 1) DESC;
SELECT upper(substr(name, 2, 1)) AS letter, count(*) AS n FROM regions GROUP BY substr(name, 2, 1) ORDER BY ALL;
SELECT substr(name, 2, 1) AS letter, count(*) AS n, upper(letter) AS large FROM regions GROUP BY letter ORDER BY ALL;
SELECT count(*) AS n FROM regions GROUP BY substr(name, 2, 1) ORDER BY substr(name, 2, 1);
SELECT tid AS k, tid // 2 AS half, count(*) AS n FROM regions GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL;
SELECT name AS k, concat(name, '.', count(*)) AS shown, k IS NULL AS missing FROM regions GROUP BY k ORDER BY ALL;
SELECT gpu % 2 AS gpu, count(*) AS n FROM kernels GROUP BY gpu % 2 ORDER BY gpu;
SELECT gpu FROM kernels GROUP BY gpu ORDER BY quantile_cont(gpu, 0.5) DESC;
SELECT 'GPU' AS k, k || '!' AS m, max(gpu) AS a, count(*) AS n FROM kernels WHERE grid_x = 1000000 GROUP BY ALL ORDER BY ALL;
-- What is the same for all rows stands in each.
SELECT avg(gpu) OVER () AS w FROM kernels;
SELECT 2 AS two, avg(gpu) OVER () + 1 AS w FROM kernels WHERE rank = 1;
SELECT (SELECT avg(rank) FROM regions) AS mean, count(*) OVER () AS n FROM kernels ORDER BY process, dispatch_id LIMIT 40;
SELECT 3 IN (1, 2) AS listed, avg(gpu) OVER () AS w FROM kernels WHERE grid_x = 1000000;
SELECT 3 IN (1, 2) AS listed, lead(gpu) OVER (ORDER BY process, dispatch_id) AS w FROM kernels WHERE grid_x = 1000000;
SELECT count(*) AS n FROM (SELECT 3 IN (1, 2) AS listed FROM kernels WHERE grid_x = 1000000);
-- A key stays a key when it is always missing, and a listed float stays one.
SELECT parent_correlation_id * 2 + NULL AS k, count(*) AS n FROM regions WHERE tid = 1 GROUP BY k;
SELECT CAST(x AS BIGINT) AS k, k IS NULL AS missing, count(*) AS n FROM (VALUES (1, 0.5e0), (2, -1.25e0), (3, NULL)) AS t(n, x) GROUP BY k ORDER BY ALL;
-- Keys in other words, twice, and with names of columns.
select rank % 2 as rank, rank % 2 as y, count(*) as n from kernels group by rank % 2 order by all;
select start_ns // 10000000000 as start_ns, start_ns // 10000000000 as b, count(*) as n from kernels group by start_ns // 10000000000 order by all;
with t as (select rank as key_0, duration_ns as d from kernels) select key_0 % 2 as p, sum(d) as a from t group by key_0 % 2 having sum(d) > 1 order by all;
with t as (select rank as key_1, category from kernels) select upper(category) as c, key_1 % 2 as p, count(*) as n from t group by upper(category), key_1 % 2 having count(*) > 1 order by c, p;
select Rank, rank + 1 as x, count(*) as n from kernels group by rank order by 1;
select RANK + 1 as x, count(*) as n from kernels group by rank order by 1;
select upper(category) as k, count(*) as n from kernels group by UPPER(category) order by 1;
select "rank" + 1 as x, count(*) as n from kernels group by rank + 1 order by 1;
select rank % 2 as p, count(*) as n from kernels k group by k.rank % 2 order by 1;
select k.rank % 2 as p, count(*) as n from kernels k group by rank % 2 order by 1;
select cast(rank as varchar) as x, count(*) as n from kernels group by rank::varchar order by 1;
select rank + 1 as a, rank + 1 as b, count(*) as n from kernels group by all order by a;
select rank + 1 as a, rank + 1 as b, count(*) as n from kernels group by a, b order by a;
select rank + 1 as a, rank + 1 as b, count(*) as n from kernels group by 1, 2 order by a;
select 1 as a, 1 as b, count(*) as n from kernels group by a, b;
select null + rank as x, null + rank as z, count(*) as n from kernels group by all;
select rank + 1, rank + 1 as b, count(*) as n from kernels group by 1, 2 order by 1;
select rank as a, rank as b, count(*) as n from kernels group by a, b order by a;
-- refused: a.rank is neither grouped by
select k.rank, a.rank + 1 as x, count(*) as n from kernels k join agents a on true group by k.rank order by 1;
