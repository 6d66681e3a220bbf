//! `wavesieve sql` takes statements as people write them: names and units of columns, windows, files, refusals.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::common::{finish, program, records, run, succeed};

const TWO_NODES: &str = "fixtures/two_nodes";

/// The heading of a statement's table.
fn heading(sql: &str) -> String {
    let shown = succeed(&["sql", sql, TWO_NODES, "--wide"]);
    let words: Vec<&str> =
        shown.lines().next().unwrap().split("  ").map(str::trim).filter(|word| !word.is_empty()).collect();
    words.join(" | ")
}

#[test]
fn units_follow_the_expression() {
    for (sql, expected) in [
        ("SELECT count(duration_ns), count(duration_ns) AS n_ns FROM kernels", "count(duration_ns) | n_ns"),
        (
            "SELECT variance(duration_ns) AS v_ns, rank() OVER (ORDER BY duration_ns) AS r_ns FROM kernels GROUP BY duration_ns",
            "v_ns | r_ns",
        ),
        ("SELECT duration_ns / 1000, duration_ns * 2 FROM kernels", "(duration_ns / 1000) | (duration_ns * 2)"),
        ("SELECT sum(duration_ns) / 1e6 AS total_ms FROM kernels", "total ms"),
        ("SELECT sum(duration_ns), avg(duration_ns) AS mean FROM kernels", "sum(duration_ns) ms | mean us"),
        ("SELECT max(duration_ns) - min(duration_ns) AS spread FROM kernels", "spread us"),
        ("SELECT max(end_ns) - min(start_ns) AS span FROM kernels WHERE process = 0", "span ms"),
        ("SELECT min(start_ns) AS begin FROM kernels", "begin ns"),
        (
            "SELECT CASE WHEN gpu = 0 THEN duration_ns ELSE 0 END AS first_gpu FROM kernels WHERE gpu = 0",
            "first_gpu us",
        ),
        (
            "WITH t AS (SELECT rank, sum(duration_ns) AS total FROM kernels GROUP BY rank) SELECT max(total) AS most FROM t",
            "most ms",
        ),
        ("SELECT d FROM (SELECT median(duration_ns) AS d FROM kernels)", "d us"),
        ("SELECT max(start_ns - lag(end_ns) OVER (ORDER BY start_ns)) AS n FROM kernels WHERE 1 = 0", "n ns"),
        ("SELECT quantile_cont(duration_ns, 0.9) AS p FROM kernels", "p us"),
        (
            "SELECT max(bytes) AS largest, sum(bytes) / sum(duration_ns) AS rate FROM memory_copies",
            "largest MiB | rate",
        ),
    ] {
        let shown = run(&["sql", sql, TWO_NODES, "--wide"]);
        if shown.code == 0 {
            assert_eq!(heading(sql), expected, "{sql}");
        } else {
            assert!(sql.contains("1 = 0"), "{sql}: {}", shown.stderr);
        }
    }
}

#[test]
fn columns_have_the_names_that_duckdb_gives() {
    let names = |sql: &str| -> Vec<String> {
        let rows = succeed(&["sql", sql, TWO_NODES, "-f", "tsv"]);
        rows.lines().next().unwrap().split('\t').map(ToOwned::to_owned).collect()
    };
    assert_eq!(
        names("SELECT COUNT(*), MIN(duration_ns), Max(duration_ns) FROM Kernels"),
        ["count_star()", "min(duration_ns)", "max(duration_ns)"]
    );
    let join = "SELECT k.start_ns, r.start_ns FROM kernels k JOIN regions r \
                ON r.process = k.process AND r.correlation_id = k.correlation_id LIMIT 1";
    assert_eq!(names(join), ["start_ns", "start_ns_1"]);
    assert_eq!(names("SELECT 1, 1, 2 AS a, 3 AS a"), ["1", "1_1", "a", "a_1"]);
}

#[test]
fn windows_are_those_of_sql() {
    let sql = "WITH t AS (SELECT 1 AS k, 10 AS v UNION ALL SELECT 1, 20 UNION ALL SELECT 2, 5 UNION ALL SELECT 3, 7) \
               SELECT k, v, sum(v) OVER (ORDER BY k) AS peers, ntile(2) OVER (ORDER BY v) AS tile, \
               sum(v) OVER (ORDER BY v ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS two, \
               count(*) OVER (ORDER BY v RANGE BETWEEN 3 PRECEDING AND 3 FOLLOWING) AS near, \
               lag(v, 1, -1) OVER (ORDER BY v) AS before FROM t ORDER BY v";
    let rows = succeed(&["sql", sql, TWO_NODES, "-f", "csv"]);
    let numbers = |row: &str| row.split(',').map(|number| number.parse().unwrap()).collect::<Vec<i64>>();
    let rows: Vec<Vec<i64>> = rows.lines().skip(1).map(numbers).collect();
    assert_eq!(
        rows,
        [[2, 5, 35, 1, 5, 2, -1], [3, 7, 42, 1, 12, 3, 5], [1, 10, 30, 2, 17, 2, 7], [1, 20, 30, 2, 30, 1, 10]]
    );
}

#[test]
fn what_polars_cannot_do_is_refused_with_what_can() {
    for (sql, words) in [
        ("SELECT mode(gpu) FROM kernels", "polars has no mode"),
        ("SELECT approx_quantile(duration_ns, 0.5) FROM kernels", "quantile_cont"),
        ("WITH RECURSIVE t AS (SELECT 1 AS n) SELECT n FROM t", "WITH RECURSIVE"),
        ("SELECT sum(gpu) OVER (ORDER BY gpu GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM kernels", "GROUPS"),
        ("SELECT rank, (SELECT max(k.gpu) FROM kernels k WHERE k.process = p.process) FROM processes p", "p.process"),
        ("SELECT (SELECT gpu FROM kernels) FROM processes", "several rows"),
        ("SELECT regexp_replace(kernel_name, category, '') FROM kernels", "regexp_replace"),
    ] {
        let refused = run(&["sql", sql, TWO_NODES]);
        assert_eq!(refused.code, 2, "{sql}: {}", refused.stderr);
        assert!(refused.stderr.contains(words), "{sql}: {}", refused.stderr);
    }
}

#[test]
fn statements_come_from_files_and_standard_input() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("count.sql");
    fs::write(&path, "-- how many\nSELECT count(*) AS n FROM kernels;\n").unwrap();
    let path = path.to_str().unwrap();
    assert_eq!(succeed(&["sql", path, TWO_NODES, "-f", "csv"]), "n\n288\n");
    assert_eq!(succeed(&["sql", "--file", path, TWO_NODES, "-f", "csv"]), "n\n288\n");
    let mut command = program(&["sql", "-", TWO_NODES, "-f", "csv"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"SELECT count(*) AS n FROM kernels").unwrap();
    assert_eq!(String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap(), "n\n288\n");
    let missing = run(&["sql", "no/such.sql", TWO_NODES]);
    assert!(missing.code == 2 && missing.stderr.contains("no/such.sql"), "{}", missing.stderr);
    let absent = finish(program(&["sql", "-f", "count.sql", TWO_NODES]));
    assert!(
        absent.code == 2 && absent.stderr.contains("cannot read the statement from count.sql"),
        "{}",
        absent.stderr
    );
}

#[test]
fn tables_are_described_without_an_input() {
    let tables = records(&["sql", "SHOW TABLES"]);
    assert!(tables.iter().any(|table| table["name"] == "kernels"));
    let columns = records(&["sql", "describe Kernels;"]);
    assert!(columns.iter().any(|column| column["column_name"] == "duration_ns" && column["unit"] == "ns"));
    let wrong = run(&["sql", "DESCRIBE kernel"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("did you mean kernels?"), "{}", wrong.stderr);
    let page = succeed(&["schema", "kernels"]);
    assert!(page.starts_with("## kernels\n") && page.contains("| duration_ns |") && !page.contains("## regions"));
    assert_eq!(run(&["schema", "kernel"]).code, 2);
}

#[test]
fn shown_statements_are_complete() {
    let shown = succeed(&["table", "kernel_duration_histogram", "--show-sql"]);
    assert!(shown.starts_with("-- reads kernels: "), "{shown}");
    assert!(shown.contains("\nWITH digits AS ("), "{shown}");
    let table = succeed(&["table", "kernel_duration_histogram", TWO_NODES, "-f", "csv"]);
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("shown.sql");
    fs::write(&path, &shown).unwrap();
    assert_eq!(succeed(&["sql", path.to_str().unwrap(), TWO_NODES, "-f", "csv"]), table);
    let gaps = succeed(&["table", "idle_by_cause", "--show-sql"]);
    assert!(gaps.lines().next().unwrap().ends_with("--with idle_gaps`"), "{gaps}");
}

/// Statements with what stands between them in one text.
const SEVERAL: [&str; 4] = [
    "SELECT rank, count(*) AS n, ';' AS mark FROM kernels GROUP BY rank ORDER BY rank",
    "SELECT name, sum(duration_ns) AS total_ns FROM regions GROUP BY name ORDER BY name",
    "SELECT kind, queue_delay_ns FROM launches ORDER BY process, kind, target_id LIMIT 7",
    "SELECT rank FROM kernels WHERE rank > 100",
];

#[test]
fn several_statements_are_answered_as_each_alone() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("answers");
    let text = format!("/* the first; of all */ {} -- the last; of all\n;\n", SEVERAL.join(" ;\n"));
    for format in ["json", "csv", "arrow"] {
        for options in [&[][..], &["--rank", "1-2", "--window", "10%:70%"]] {
            // Files of an older call are replaced.
            for _ in 0..2 {
                let common = ["sql", &text, TWO_NODES, "-f", format, "-o", directory.to_str().unwrap()];
                let together = run(&[&common[..], options].concat());
                assert_eq!(together.code, 0, "{}", together.stderr);
            }
            assert_eq!(fs::read_dir(&directory).unwrap().count(), SEVERAL.len());
            for (number, sql) in (1..).zip(SEVERAL) {
                let alone = place.path().join("alone");
                let common = ["sql", sql, TWO_NODES, "-f", format, "-o", alone.to_str().unwrap()];
                assert!([0, 3].contains(&run(&[&common[..], options].concat()).code));
                let together = fs::read(directory.join(format!("statement-{number}.{format}"))).unwrap();
                assert!(together == fs::read(&alone).unwrap(), "{sql} as {format} with {options:?}");
            }
            fs::remove_dir_all(&directory).unwrap();
        }
    }
    let shown = succeed(&["sql", &SEVERAL[..2].join(";\n"), TWO_NODES, "-f", "md"]);
    let alone = |sql: &str| succeed(&["sql", sql, TWO_NODES, "-f", "md"]);
    let expected = SEVERAL[..2].iter().map(|sql| format!("## {sql}\n\n{}", alone(sql)));
    assert_eq!(shown, expected.collect::<Vec<String>>().join("\n"));
}

#[test]
fn a_statement_that_fails_among_others_is_named() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("answers");
    let output = ["-f", "csv", "-o", directory.to_str().unwrap()];
    let with = |sql: &str| run(&[&["sql", sql, TWO_NODES][..], &output].concat());
    let partial = with("SELECT 1 AS one; SELECT nothing FROM kernels; SELECT 3 AS three");
    assert_eq!(partial.code, 5, "{}", partial.stderr);
    assert!(partial.stderr.contains("statement-2: ") && partial.stderr.contains("nothing"), "{}", partial.stderr);
    let names = ["statement-1.csv", "statement-3.csv"].map(|name| directory.join(name).is_file());
    assert!(names == [true, true] && !directory.join("statement-2.csv").exists());
    fs::remove_dir_all(&directory).unwrap();
    for (sql, options, said) in [
        ("SELECT 1; SHOW TABLES", &output[..], "statement 2 is not a SELECT statement"),
        ("SELECT 1; DROP TABLE kernels", &output, "statement 2 is not a SELECT statement"),
        ("SELECT 1; SELECT 2", &["-f", "csv"], "name a directory"),
        ("SELECT one; SELECT two", &output, "two"),
    ] {
        let refused = run(&[&["sql", sql, TWO_NODES][..], options].concat());
        assert_eq!(refused.code, 2, "{sql}: {}", refused.stderr);
        assert!(refused.stderr.contains(said), "{sql}: {}", refused.stderr);
    }
    // One that gives no row, and none that gives one.
    let empty = "SELECT rank FROM kernels WHERE rank > 100";
    let none = run(&[&["sql", &format!("{empty}; {empty}"), TWO_NODES, "--rank", "77"][..], &output].concat());
    assert_eq!(none.code, 3, "{}", none.stderr);
}

#[test]
fn statements_may_begin_with_comments() {
    for start in ["-- how many\n", "--how many\n", "/* how many */ ", "--\n-- how many\n"] {
        let counted = succeed(&["sql", &format!("{start}SELECT count(*) AS n FROM kernels"), TWO_NODES, "-f", "csv"]);
        assert_eq!(counted, "n\n288\n", "{start}");
    }
    // Other words that begin so are options.
    assert_eq!(run(&["sql", "--nothing", TWO_NODES]).code, 2);
}

#[test]
fn conditions_bind_as_in_statements() {
    for condition in [
        "gpu IS DISTINCT FROM 1 AND rank = 0",
        "gpu IS NOT DISTINCT FROM 1 AND rank = 0 OR rank = 3",
        "rank = 2 OR NOT gpu IS DISTINCT FROM 1 AND category IS DISTINCT FROM 'gemm'",
        "(region_name LIKE 'a%') IS NOT FALSE AND gpu = 1",
        "region_name = 'a' IS NOT TRUE OR rank IS NULL",
        "(gpu IS DISTINCT FROM 1) AND rank = 0 AND duration_ns IS DISTINCT FROM NULL",
    ] {
        let count = |sql: &str, options: &[&str]| succeed(&[&["sql", sql, TWO_NODES, "-f", "csv"], options].concat());
        let stated = count(&format!("SELECT count(*) AS n FROM kernels WHERE {condition}"), &[]);
        let filtered = count("SELECT count(*) AS n FROM kernels", &["--where", condition]);
        assert_eq!(stated, filtered, "{condition}");
    }
}
