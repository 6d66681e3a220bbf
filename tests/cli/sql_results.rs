//! Answers of `wavesieve sql` equal those of DuckDB, or a refusal in plain words; and they are the same in each run, whatever the threads.

use std::fs;

use crate::common::{records, run, succeed};

const TWO_NODES: &str = "fixtures/two_nodes";

/// The rows of a statement as CSV, without the heading.
fn rows(sql: &str) -> String {
    let all = succeed(&["sql", sql, TWO_NODES, "-f", "csv"]);
    all.split_once('\n').unwrap().1.to_owned()
}

/// Why a statement is refused.
fn refusal(sql: &str) -> String {
    let refused = run(&["sql", sql, TWO_NODES]);
    assert_eq!(refused.code, 2, "{sql}: {}", refused.stdout);
    refused.stderr
}

#[test]
fn whole_numbers_are_exact_or_refused() {
    for (sql, words) in [
        ("SELECT 9223372036854775807 + 1", "9223372036854775807 + 1 overflows 64-bit integers"),
        ("SELECT start_ns * start_ns FROM kernels", " overflows 64-bit integers; cast an operand to DOUBLE"),
        ("SELECT 1 FROM kernels WHERE start_ns * start_ns > 5", "cast an operand to DOUBLE"),
        ("SELECT -(-9223372036854775807 - 1 + gpu * 0) FROM kernels", "-(-9223372036854775808) overflows"),
        ("SELECT abs(-9223372036854775807 - 1 + gpu * 0) FROM kernels", "abs(-9223372036854775808) overflows"),
        ("SELECT 9223372036854775807 - gpu + rank * 100 + 5 FROM kernels", "overflows 64-bit integers"),
        ("SELECT a.rank FROM kernels a JOIN kernels b ON a.start_ns = b.start_ns * b.start_ns", "cast an operand"),
        ("SELECT rank, sum(end_ns) * 1000000000 FROM kernels GROUP BY rank", "cast an operand to DOUBLE"),
    ] {
        let message = refusal(sql);
        assert!(message.contains(words), "{sql}: {message}");
    }
    assert_eq!(
        rows("SELECT CAST(4611686018427387904 AS DOUBLE) * 4, -9223372036854775808"),
        "18446744073709552000,-9223372036854775808\n"
    );
    assert_eq!(rows("SELECT count(graph_exec_id) - count(*) FROM kernels"), "-288\n");
    assert_eq!(
        rows("SELECT power(2, 70) > 1e21, round(1750000000123456789), round(-1250, -2)"),
        "true,1750000000123456789,-1300\n"
    );
    // polars computes both branches of all rows.
    let guarded = "SELECT max(CASE WHEN start_ns < 1000 THEN start_ns * start_ns ELSE 7 END) FROM kernels";
    assert_eq!(rows(guarded), "7\n");
}

#[test]
fn whole_quotients_are_cut_towards_zero() {
    assert_eq!(rows("SELECT 7 // 2, 7 // -2, -7 // 2, -7 // -2, NULL // 2"), "3,-3,-3,3,\n");
    assert_eq!(rows("SELECT 7 % 3, 7 % -3, -7 % 3, -7 % -3, mod(7, -3)"), "1,1,-1,-1,1\n");
    assert_eq!(rows("SELECT 7.5 // 2, 7e0 // 2"), "3.75,3.5\n");
}

#[test]
fn substr_counts_from_both_ends() {
    let sql = "SELECT substr('hello', -2), substr('hello', 0, 2), substr('hello', -10, 7), substr('hello', 2, -1), \
               substring('hello' FROM -3 FOR 2), substr('hello', 0), substr('größe', 3, 2), substr('hello', NULL)";
    assert_eq!(rows(sql), "lo,h,he,h,ll,hello,öß,\n");
    assert_eq!(
        rows("SELECT DISTINCT substr(category, gpu - 2) FROM kernels WHERE category = 'gemm' ORDER BY 1"),
        "gemm\nm\nmm\n"
    );
}

#[test]
fn missing_keys_never_match() {
    let with = "WITH a(k, l) AS (VALUES (1, 'p'), (2, 'q'), (NULL, 'r')), \
                b(k, m) AS (VALUES (1, 'P'), (1, 'PP'), (NULL, 'R'), (3, 'S')) SELECT * FROM a";
    for (join, expected) in [
        ("NATURAL JOIN b", "1,p,P\n1,p,PP\n"),
        ("NATURAL LEFT JOIN b", "1,p,P\n1,p,PP\n2,q,\n,r,\n"),
        ("NATURAL RIGHT JOIN b", "1,p,P\n1,p,PP\n3,,S\n,,R\n"),
        ("NATURAL FULL JOIN b", "1,p,P\n1,p,PP\n2,q,\n3,,S\n,r,\n,,R\n"),
        ("NATURAL SEMI JOIN b", "1,p\n"),
        ("NATURAL ANTI JOIN b", "2,q\n,r\n"),
        ("SEMI JOIN b ON a.k = b.k", "1,p\n"),
        ("ANTI JOIN b USING (k)", "2,q\n,r\n"),
    ] {
        assert_eq!(rows(&format!("{with} {join} ORDER BY ALL")), expected, "{join}");
    }
    let message = refusal("SELECT * FROM kernels NATURAL JOIN (SELECT 5 AS zz)");
    assert!(message.contains("no column in common"), "{message}");
}

#[test]
fn semi_and_anti_joins_give_the_left_side() {
    let columns = |sql: &str| records(&["sql", sql, TWO_NODES])[0].as_object().unwrap().len();
    let left = columns("SELECT * FROM processes");
    assert_eq!(columns("SELECT * FROM processes p SEMI JOIN kernels k ON k.process = p.process"), left);
    assert_eq!(
        columns("SELECT * FROM processes ANTI JOIN (SELECT * FROM kernels WHERE gpu = 99) USING (process)"),
        left
    );
    let semi = rows("SELECT count(*) FROM kernels k SEMI JOIN processes p ON p.process = k.process AND p.rank = k.gpu");
    let exists = rows(
        "SELECT count(*) FROM kernels k WHERE EXISTS (SELECT 1 FROM processes p WHERE p.process = k.process AND p.rank = k.gpu)",
    );
    assert_eq!(semi, exists);
    for sql in [
        "SELECT * FROM kernels k SEMI JOIN regions r ON k.start_ns > r.start_ns",
        "SELECT * FROM kernels k ANTI JOIN regions r ON k.process = r.process AND r.tid > 5",
    ] {
        assert!(refusal(sql).contains("SEMI and ANTI JOIN by equal columns alone"), "{sql}");
    }
}

#[test]
fn distinct_on_takes_the_first_row_of_each_key() {
    let values = "FROM (VALUES (1, 10, 'a'), (1, 5, 'b'), (2, 7, 'c'), (2, 8, 'd'), (NULL, 1, 'e')) v(x, y, z)";
    for (sql, expected) in [
        ("SELECT DISTINCT ON (x) x, z {} ORDER BY y", ",e\n1,b\n2,c\n"),
        ("SELECT DISTINCT ON (x) z {} ORDER BY x, y DESC", "a\nd\ne\n"),
        ("SELECT DISTINCT ON (k) x AS k, y + 1 AS w {} ORDER BY w DESC", "1,11\n2,9\n,2\n"),
        ("SELECT DISTINCT ON (1) x, y {} ORDER BY 2 DESC LIMIT 2", "1,10\n2,8\n"),
        ("SELECT DISTINCT ON (x % 2) * {} ORDER BY y DESC", "1,10,a\n2,8,d\n,1,e\n"),
        ("SELECT DISTINCT ON (x) z {}", "a\nc\ne\n"),
    ] {
        assert_eq!(rows(&sql.replace("{}", values)), expected, "{sql}");
    }
    assert!(
        refusal("SELECT DISTINCT ON (k.rank) k.rank FROM kernels k JOIN processes p USING (process)")
            .contains("subquery")
    );
    assert!(refusal("SELECT DISTINCT ON (rank) count(*) FROM kernels GROUP BY rank").contains("subquery"));
}

#[test]
fn casts_round_as_in_duckdb() {
    for (sql, expected) in [
        ("SELECT CAST(2.5 AS INT), CAST(-2.5 AS INT), 0.5::BIGINT, CAST(1.5 + 1 AS INT)", "3,-3,1,3\n"),
        ("SELECT CAST(2.5e0 AS INT), CAST(5 / 2 AS INT), CAST(CAST(2.5 AS DOUBLE) AS INT)", "2,2,2\n"),
        ("SELECT CAST(x AS INT) FROM (SELECT 2.5 AS x)", "3\n"),
        ("SELECT CAST(x AS INT) FROM (SELECT 2.5e0 AS x)", "2\n"),
        ("SELECT CAST('2.5' AS INT), CAST(' 12 ' AS INT), CAST(true AS INT), CAST(NULL AS INT)", "3,12,1,\n"),
        (
            "SELECT TRY_CAST('abc' AS INT), TRY_CAST(1e19 AS BIGINT), TRY_CAST(300 AS TINYINT), TRY_CAST('2.5' AS INT)",
            ",,,3\n",
        ),
    ] {
        assert_eq!(rows(sql), expected, "{sql}");
    }
    for (sql, words) in [
        ("SELECT CAST(3e9 AS INT)", "3000000000 is out of range for INTEGER, -2147483648 to 2147483647"),
        ("SELECT CAST('abc' AS BIGINT)", "'abc' cannot be cast to BIGINT"),
        ("SELECT CAST(1e19 AS BIGINT)", "TRY_CAST"),
        ("SELECT CAST(gpu AS HUGEINT) FROM kernels", "DOUBLE"),
        ("SELECT CAST(gpu AS DECIMAL(9, 2)) FROM kernels", "DOUBLE"),
    ] {
        let message = refusal(sql);
        assert!(message.contains(words), "{sql}: {message}");
    }
    assert_eq!(
        succeed(&["sql", "SELECT CAST(gpu / 2 AS BIGINT) AS n FROM kernels WHERE false", TWO_NODES, "-f", "csv"]),
        "n\n"
    );
}

/// A value that a subquery stands for keeps its digits, of which polars shows six after the point.
#[test]
fn values_of_subqueries_have_all_digits() {
    let digits = "1.123456789012345";
    for sql in [
        format!("SELECT (SELECT max({digits}e0))"),
        format!("SELECT x FROM (VALUES (CAST('{digits}' AS DOUBLE))) t(x)"),
        format!("WITH one AS (SELECT CAST('{digits}' AS DOUBLE) AS x) SELECT (SELECT x FROM one)"),
    ] {
        assert_eq!(rows(&sql), format!("{digits}\n"), "{sql}");
    }
    assert_eq!(rows("SELECT (SELECT CAST('1e-12' AS DOUBLE)) * 1e12"), "1\n");
    assert_eq!(rows("SELECT (SELECT -CAST('0.1234567890123' AS DOUBLE))"), "-0.1234567890123\n");
    assert_eq!(rows("SELECT (SELECT CAST('inf' AS DOUBLE)) > 1"), "true\n");
}

#[test]
fn values_have_columns() {
    assert_eq!(rows("SELECT sum(1), count(1), max(2), sum(n) FROM (VALUES (1), (2)) t(n)"), "2,2,2,3\n");
    assert_eq!(rows("SELECT * FROM (VALUES (1), (2.5), (NULL), (1 + 1)) t(n)"), "1\n2.5\n\"\"\n2\n");
    assert_eq!(records(&["sql", "SELECT * FROM (VALUES (1, 'a'))", TWO_NODES])[0]["col1"], "a");
    // Numbers of 32 and of 64 bits in one column.
    assert_eq!(
        rows("SELECT s, n * 2 FROM (VALUES ('a', NULL), ('b', 2000000000), ('c', -4611686018427387904)) t(s, n)"),
        "a,\nb,4000000000\nc,-9223372036854775808\n"
    );
    // A query without a table has one row, whatever two columns have in common.
    assert_eq!(rows("SELECT split_part('a,b', ',', 2), split_part('a,b', ',', 1), count(*), sum(2)"), "b,a,1,2\n");
    assert_eq!(rows("SELECT 7 // 2 WHERE false"), "");
}

#[test]
fn set_operations_in_others_are_what_they_are() {
    assert_eq!(
        rows("SELECT n FROM ((SELECT 1 AS n UNION ALL SELECT 2) EXCEPT SELECT 2) UNION ALL SELECT 3 ORDER BY n"),
        "1\n3\n"
    );
    assert_eq!(rows("SELECT 1 AS n UNION (SELECT 2 EXCEPT SELECT 3) ORDER BY n"), "1\n2\n");
}

#[test]
fn existence_is_a_value() {
    let sql = "SELECT exists(SELECT 1 FROM kernels WHERE gpu = 0), exists(SELECT 1 FROM kernels WHERE gpu = 99), \
               CASE WHEN NOT EXISTS (SELECT 1 FROM kernels) THEN 1 ELSE 2 END";
    assert_eq!(rows(sql), "true,false,2\n");
    assert_eq!(
        rows(
            "SELECT DISTINCT category SIMILAR TO 'g.*', category NOT SIMILAR TO 'g' FROM kernels WHERE category = 'gemm'"
        ),
        "true,true\n"
    );
}

/// Statements that are refused, or that have unknown parts.
const UNKNOWN: &[&str] = &[
    "SELECT gpu, count(*) FROM kernels GROUP BY ROLLUP (gpu)",
    "SELECT gpu, count(*) FROM kernels GROUP BY CUBE (gpu)",
    "SELECT gpu, count(*) FROM kernels GROUP BY GROUPING SETS ((gpu), ())",
    "SELECT gpu, grouping(gpu) FROM kernels GROUP BY gpu",
    "SELECT gpu, count(*) FROM kernels GROUP BY gpu WITH ROLLUP",
    "SELECT process, exists(SELECT 1 FROM kernels k WHERE k.process = p.process) FROM processes p",
    "SELECT gpu IN (SELECT gpu FROM memory_copies) FROM kernels",
    "SELECT gpu FROM kernels WHERE EXISTS (SELECT 1 FROM regions r WHERE r.start_ns > kernels.start_ns)",
    "SELECT gpu FROM kernels k WHERE gpu IN (SELECT gpu FROM memory_copies c WHERE c.start_ns > k.start_ns)",
    "SELECT gpu << 2, gpu >> 1 FROM kernels",
    "SELECT ~gpu FROM kernels",
    "SELECT gpu # 1 FROM kernels",
    "SELECT [1, 2] FROM kernels",
    "SELECT {'a': 1} FROM kernels",
    "SELECT map([1], [2])",
    "SELECT struct_pack(a := 1)",
    "SELECT list_transform([1], x -> x + 1)",
    "SELECT list_transform(gpu, x -> x + 1) FROM kernels",
    "SELECT category -> 'a' FROM kernels",
    "SELECT * FROM kernels ASOF JOIN regions ON kernels.start_ns >= regions.start_ns",
    "SELECT * FROM kernels POSITIONAL JOIN regions",
    "SELECT * FROM kernels JOIN regions",
    "SELECT * FROM kernels RIGHT SEMI JOIN regions USING (process)",
    "SELECT * FROM generate_series(1, 3)",
    "SELECT * FROM read_parquet('x.parquet')",
    "SELECT * FROM unnest([1, 2]) t(n)",
    "SELECT unnest(gpu) FROM kernels",
    "SELECT * FROM kernels TABLESAMPLE 10%",
    "SELECT * FROM kernels USING SAMPLE 10",
    "SELECT * FROM kernels PIVOT (sum(gpu) FOR rank IN (0, 1))",
    "SELECT * FROM (PIVOT kernels ON gpu USING sum(rank))",
    "SELECT * FROM kernels k, LATERAL (SELECT 1) l",
    "SELECT * FROM kernels LIMIT 1 + 1",
    "SELECT * FROM kernels LIMIT 10%",
    "SELECT gpu FROM kernels LIMIT 2 BY gpu",
    "SELECT gpu FROM kernels FETCH FIRST 3 ROWS WITH TIES",
    "SELECT gpu FROM kernels WHERE gpu > ALL (SELECT gpu FROM memory_copies)",
    "SELECT gpu FROM kernels WHERE gpu = ANY (SELECT gpu FROM memory_copies)",
    "SELECT gpu FROM kernels WHERE (process, gpu) IN (SELECT process, gpu FROM memory_copies)",
    "SELECT gpu FROM kernels FOR UPDATE",
    "SELECT TOP 3 gpu FROM kernels",
    "SELECT gpu INTO x FROM kernels",
    "SELECT FROM kernels",
    "SELECT *",
    "SELECT gpu FROM kernels UNION ALL BY NAME SELECT rank FROM regions",
    "SELECT gpu FROM kernels INTERSECT ALL SELECT gpu FROM memory_copies",
    "SELECT * FROM processes UNION SELECT * FROM kernels",
    "SELECT gpu FROM kernels UNION SELECT kernel_name FROM kernels",
    "SELECT k.* EXCLUDE (gpu) FROM kernels k JOIN processes p USING (process)",
    "SELECT $1, ?",
    "SELECT 99999999999999999999",
    "SELECT 0x1F",
    "SELECT E'a\\n'",
    "SELECT gpu AT TIME ZONE 'UTC' FROM kernels",
    "SELECT INTERVAL 1 DAY",
    "SELECT kernel_name COLLATE nocase FROM kernels",
    "SELECT overlay(category PLACING 'x' FROM 1) FROM kernels",
    "SELECT kernel_name LIKE category FROM kernels",
    "SELECT kernel_name LIKE ANY ('a', 'b') FROM kernels",
    "SELECT kernel_name LIKE 'a' ESCAPE 'bc' FROM kernels",
    "SELECT regexp_matches(kernel_name, '(') FROM kernels",
    "SELECT foo(gpu) FROM kernels",
    "SELECT COLUMNS('.*_ns') FROM kernels",
    "SELECT kernel_name[1:5] FROM kernels",
    "SELECT kernel_name GLOB 'a*' FROM kernels",
    "SELECT gpu ** 2 FROM kernels",
    "SELECT gpu, duration_ns - min(duration_ns) OVER () AS d, count(*) FROM kernels GROUP BY gpu",
    "SELECT gpu, duration_ns FROM kernels GROUP BY gpu ORDER BY sum(duration_ns)",
    "SELECT sum(gpu), regr_slope(gpu, rank) FROM kernels",
    "SELECT nosuch FROM kernels",
    "SELECT k.nosuch FROM kernels k",
    "SELECT z.gpu FROM kernels k",
    "SELECT 1 FROM nosuch",
    "SELECT gpu FROM kernels, regions WHERE process = 1",
    "SELECT gpu FROM kernels ORDER BY nosuch",
    "SELECT gpu + kernel_name FROM kernels",
    "SELECT -kernel_name FROM kernels",
    "SELECT kernel_name % 2, kernel_name // 2 FROM kernels",
    "SELECT valid * valid FROM kernels",
    "SELECT sum(kernel_name) FROM kernels",
    "SELECT avg(kernel_name), stddev(kernel_name) FROM kernels",
    "SELECT corr(kernel_name, gpu) FROM kernels",
    "SELECT gpu FROM kernels WHERE kernel_name > 5",
    "SELECT kernel_name BETWEEN 1 AND 2 FROM kernels",
    "SELECT gpu IN ('a') FROM kernels",
    "SELECT CASE gpu WHEN 'a' THEN 1 END FROM kernels",
    "SELECT coalesce(gpu, kernel_name), greatest(gpu, kernel_name) FROM kernels",
    "SELECT if(gpu, 1, 2) FROM kernels",
    "SELECT upper(gpu), abs(kernel_name), sqrt(kernel_name), round(kernel_name) FROM kernels",
    "SELECT CAST(kernel_name AS DOUBLE) FROM kernels",
    "SELECT CAST(kernel_name AS BOOLEAN) FROM kernels",
    "SELECT CAST(gpu AS UUID) FROM kernels",
    "SELECT substr(kernel_name, 'a') FROM kernels",
    "SELECT gpu, sum(gpu) FROM kernels",
    "SELECT gpu, sum(duration_ns) FROM kernels GROUP BY rank",
    "SELECT a.rank, b.rank, count(*) FROM processes a, processes b GROUP BY a.rank, b.rank",
    "SELECT max(sum(gpu)) FROM kernels",
    "SELECT sum(DISTINCT gpu) FROM kernels",
    "SELECT count(DISTINCT gpu, rank) FROM kernels",
    "SELECT sum(gpu, rank) FROM kernels",
    "SELECT string_agg(category, ',') WITHIN GROUP (ORDER BY category) FROM kernels",
    "SELECT first(gpu ORDER BY rank) FROM kernels",
    "SELECT quantile_cont(duration_ns, [0.1, 0.9]) FROM kernels",
    "SELECT row_number() OVER w FROM kernels",
    "SELECT rank() OVER () FROM kernels",
    "SELECT lag(gpu, rank) OVER (ORDER BY gpu) FROM kernels",
    "SELECT sum(kernel_name) OVER (ORDER BY gpu) FROM kernels",
    "SELECT count(*) OVER (ORDER BY kernel_name RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) FROM kernels",
    "SELECT sum(x) FROM (VALUES (1), ('a')) t(x)",
    "SELECT * FROM (VALUES (1, 2), (3)) t(a, b)",
    "SELECT greatest() FROM kernels",
    "SELECT",
    "SELECT 'it",
    "SELECT /* it",
    "SELECT * FRM kernels",
    "SELECT ((((1",
];

#[test]
fn messages_are_in_plain_words() {
    // Words that only programmers read: types of the parser and of polars, their constructors, their excuses.
    let leaks = regex::Regex::new(
        r"(?x) \w\ \{ | \w\{ | \b(Some|None|Ident|Value|Identifier|Span|Location|ObjectName|Expr)\b[\(\{] | ::
        | not\ (currently\ |yet\ |\(yet\)\ )?(supported|implemented) | currently | unsupported | sql\ parser | \bdtype
        | \b(i|u|f)(8|16|32|64|128)\b | \b(Int|UInt|Float)\d+ | \bstr\b | \bcat\b | Utf8 | \bsupertype | literal\( | col\( | dyn\ int
        | POLARS | FAILED | panicked | Resolved | SQLInterface | SQLSyntax | schema\ mismatch | \.alias\( ",
    )
    .unwrap();
    for sql in UNKNOWN {
        let message = refusal(sql);
        assert!(
            message.starts_with("error: cannot run the statement: ") && message.lines().count() == 1,
            "{sql}: {message}"
        );
        assert!(message.contains("; "), "{sql} is told nothing to do: {message}");
        // A part of the statement is quoted as it is.
        let words: String = message.split('`').step_by(2).collect();
        assert!(!leaks.is_match(&words), "{sql}: {message}");
    }
    for (sql, words) in [
        ("SELECT sum(gpu), regr_slope(gpu, rank) FROM kernels", "unknown function regr_slope"),
        (
            "SELECT gpu, duration_ns - min(duration_ns) OVER () FROM kernels GROUP BY gpu",
            "duration_ns is neither grouped",
        ),
        ("SELECT kernel_name[1:5] FROM kernels", "substr(text, start, length)"),
    ] {
        let message = refusal(sql);
        assert!(message.contains(words), "{sql}: {message}");
    }
}

/// Statements that leave the order of rows open, wholly or among equal ones.
const OPEN_ORDER: &[&str] = &[
    "SELECT kernel_name, count(*) AS n FROM kernels GROUP BY kernel_name",
    "SELECT kernel_name, gpu, median(duration_ns) AS m, any_value(dispatch_id) AS one FROM kernels GROUP BY kernel_name, gpu",
    "SELECT correlation_id, kernel_name, min(duration_ns) AS least FROM kernels GROUP BY ALL LIMIT 20",
    "SELECT DISTINCT kernel_name, duration_ns FROM kernels",
    "SELECT DISTINCT name FROM regions LIMIT 5",
    "SELECT DISTINCT ON (category) category, dispatch_id FROM kernels",
    "SELECT kernel_name FROM kernels UNION SELECT name FROM regions",
    "SELECT kernel_name FROM kernels EXCEPT SELECT name FROM regions",
    "SELECT correlation_id FROM kernels INTERSECT SELECT correlation_id FROM regions LIMIT 9",
    "SELECT k.dispatch_id, r.region_id FROM kernels k JOIN regions r ON r.correlation_id = k.correlation_id",
    "SELECT k.dispatch_id, c.copy_id FROM kernels k FULL JOIN memory_copies c ON c.bytes = k.duration_ns",
    "SELECT k.dispatch_id, o.dispatch_id FROM kernels k JOIN kernels o ON k.start_ns < o.end_ns AND k.end_ns > o.start_ns LIMIT 500",
    "SELECT k.dispatch_id, r.region_id FROM kernels k JOIN regions r ON k.start_ns > r.end_ns",
    "SELECT dispatch_id, process FROM kernels ORDER BY gpu",
    "SELECT dispatch_id, process FROM kernels ORDER BY kernel_name DESC, gpu LIMIT 30",
    "SELECT dispatch_id, process FROM kernels ORDER BY gpu LIMIT 7 OFFSET 20",
    "SELECT * FROM kernels LIMIT 10",
    "SELECT dispatch_id, row_number() OVER (PARTITION BY gpu ORDER BY category) AS n FROM kernels",
    "SELECT dispatch_id, row_number() OVER (PARTITION BY kernel_name) AS n, sum(duration_ns) OVER (PARTITION BY gpu) AS s FROM kernels",
    "SELECT kernel_name, string_agg(category, ',' ORDER BY gpu) AS c, string_agg(DISTINCT category, ',') AS d FROM kernels GROUP BY kernel_name",
    "SELECT arg_max(dispatch_id, gpu) AS a, first(kernel_name) AS f, last(kernel_name) AS l FROM kernels GROUP BY category",
    "WITH g AS (SELECT rank, kernel_name, COUNT(*) AS n, SUM(duration_ns) AS s FROM kernels GROUP BY rank, kernel_name) SELECT * FROM g",
    "WITH g AS (SELECT kernel_name, COUNT(*) AS n FROM kernels GROUP BY kernel_name) SELECT n, count(*) AS m FROM g GROUP BY n",
];

#[test]
fn rows_come_in_the_same_order_in_each_run() {
    for sql in OPEN_ORDER {
        let answer = |threads: &str| succeed(&["sql", sql, TWO_NODES, "-f", "csv", "--threads", threads]);
        let first = answer("1");
        for threads in ["2", "1", "2", "4", "2"] {
            assert_eq!(answer(threads), first, "{sql} with {threads} threads");
        }
    }
    // Rows stand where the first of theirs stood, equal ones as before.
    assert_eq!(
        rows("SELECT x FROM (VALUES ('b'), ('a'), ('b'), ('c')) t(x) GROUP BY x"),
        rows("SELECT DISTINCT x FROM (VALUES ('b'), ('a'), ('b'), ('c')) t(x)")
    );
    let all = rows("SELECT dispatch_id, process FROM kernels ORDER BY gpu");
    assert!(all.starts_with(&rows("SELECT dispatch_id, process FROM kernels ORDER BY gpu LIMIT 40")));
}

/// A text of a column is looked for as it is, like a constant one.
#[test]
fn texts_that_are_looked_for_are_no_patterns() {
    for (found, place) in [("a.b", 2), ("x(a)", 4), ("[1]+{2}", 4), ("p|q^r", 4), ("c$d", 2), (r"e\f", 2), ("g*h?", 4)]
    {
        let needle = found.chars().nth(place - 1).unwrap();
        let of_rows = format!("substr(kernel_name, 1, 0) || '{needle}'");
        let answers = rows(&format!(
            "SELECT strpos('{found}', {of_rows}) AS a, instr('{found}', {of_rows}) AS b, contains('{found}', {of_rows}) AS c,
             contains('none', {of_rows}) AS d FROM kernels LIMIT 1"
        ));
        assert_eq!(answers, format!("{place},{place},true,false\n"), "{found}");
    }
    let names = records(&["sql", "SELECT kernel_name AS k, short_name AS s FROM kernels", TWO_NODES]);
    let place = |row: &serde_json::Value| {
        let at = row["k"].as_str().unwrap().find(row["s"].as_str().unwrap());
        at.map_or(0, |at| at + 1)
    };
    let sum: usize = names.iter().map(place).sum();
    assert_eq!(rows("SELECT SUM(strpos(kernel_name, short_name)) AS s FROM kernels"), format!("{sum}\n"));
}

#[test]
fn a_file_may_stand_after_the_option_of_formats() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("count.sql");
    fs::write(&path, "SELECT count(*) AS n FROM kernels").unwrap();
    let path = path.to_str().unwrap();
    for words in [
        vec!["sql", "-f", path, TWO_NODES],
        vec!["sql", TWO_NODES, "--format", path],
        vec!["sql", &format!("-f{path}"), TWO_NODES],
    ] {
        assert!(succeed(&words).contains("288"), "{words:?}");
    }
    // The file of a statement is read, so that no result takes its place.
    for words in [vec!["sql", path, TWO_NODES, "-o", path], vec!["sql", "-f", path, TWO_NODES, "-o", path]] {
        let refused = run(&words);
        assert!(refused.code == 2 && refused.stderr.contains("which is never written"), "{}", refused.stderr);
        assert_eq!(fs::read_to_string(path).unwrap(), "SELECT count(*) AS n FROM kernels");
    }
    let both = run(&["sql", "SELECT 1", "-f", path, TWO_NODES]);
    assert!(both.code == 2 && both.stderr.contains("a statement is given beside the file"), "{}", both.stderr);
    assert_eq!(run(&["table", "kernel_summary", "-f", path, TWO_NODES]).code, 2);
    let missing = run(&["sql", "-f", "missing.sql", TWO_NODES]);
    assert!(missing.code == 2 && missing.stderr.contains("the statement from missing.sql"), "{}", missing.stderr);
}
