//! `sql` with the tables and views of AMD's databases: their rows and sums are those that SQLite gives over the real ones.

use std::collections::BTreeMap;

use rusqlite::types::Value as Cell;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::common::{real, records, run, succeed};

const DATABASES: [&str; 3] =
    ["rocpd-ranks/rank0_81681_results.db", "rocpd-pmc/vcopy_pmc_results.db", "rocpd-real/146104_results.db"];

/// Statements as scripts for AMD's databases have them, with a total order each.
const STATEMENTS: [&str; 15] = [
    "SELECT name, COUNT(*) AS n, SUM(duration) AS total FROM kernels GROUP BY name ORDER BY total DESC, name LIMIT 5",
    "SELECT name, total_calls FROM top_kernels ORDER BY total_calls DESC, name LIMIT 10",
    "SELECT SUM(total_calls) AS calls FROM top",
    "SELECT COUNT(*) AS n, SUM(END - start) AS total FROM rocpd_kernel_dispatch",
    "SELECT S.display_name AS name, COUNT(*) AS n, SUM(K.end - K.start) AS total FROM rocpd_kernel_dispatch K \
     JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id AND S.guid = K.guid GROUP BY S.display_name ORDER BY name",
    "SELECT S.string AS name, COUNT(*) AS n, SUM(R.end - R.start) AS total FROM rocpd_region R \
     JOIN rocpd_string S ON S.id = R.name_id AND S.guid = R.guid GROUP BY S.string ORDER BY name",
    "SELECT name, COUNT(*) AS n, SUM(size) AS bytes FROM memory_copies GROUP BY name ORDER BY name",
    "SELECT category, COUNT(*) AS n FROM regions GROUP BY category ORDER BY category",
    "SELECT pid, tid, COUNT(*) AS n FROM regions_and_samples GROUP BY pid, tid ORDER BY pid, tid",
    "SELECT counter_name, COUNT(*) AS n FROM counters_collection GROUP BY counter_name ORDER BY counter_name LIMIT 20",
    "SELECT A.type AS type, COUNT(*) AS n FROM rocpd_info_agent A GROUP BY A.type ORDER BY type",
    "SELECT grid_x, workgroup_x, lds_size, COUNT(*) AS n FROM kernels GROUP BY grid_x, workgroup_x, lds_size \
     ORDER BY grid_x, workgroup_x, lds_size",
    "SELECT K.name AS name, COUNT(*) AS n FROM kernels K JOIN regions R ON R.stack_id = K.stack_id AND R.guid = K.guid \
     GROUP BY K.name ORDER BY name",
    "SELECT E.stack_id AS stack_id, COUNT(*) AS n FROM rocpd_memory_copy M JOIN rocpd_event E \
     ON E.id = M.event_id AND E.guid = M.guid GROUP BY E.stack_id ORDER BY stack_id LIMIT 5",
    "SELECT arg_name, COUNT(*) AS n FROM events_args GROUP BY arg_name ORDER BY arg_name",
];

/// Rows that SQLite gives, by the names of columns.
fn of_sqlite(path: &str, statement: &str) -> Vec<BTreeMap<String, Value>> {
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut prepared = database.prepare(statement).unwrap();
    let names: Vec<String> = prepared.column_names().into_iter().map(str::to_owned).collect();
    let mut rows = prepared.query([]).unwrap();
    let mut all = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let cell = |place: usize| match row.get::<_, Cell>(place).unwrap() {
            Cell::Null | Cell::Blob(_) => Value::Null,
            Cell::Integer(value) => value.into(),
            Cell::Real(value) => value.into(),
            Cell::Text(text) => text.into(),
        };
        all.push(names.iter().cloned().enumerate().map(|(place, name)| (name, cell(place))).collect());
    }
    all
}

fn ours(path: &str, statement: &str) -> Vec<BTreeMap<String, Value>> {
    let rows = records(&["sql", "-q", "--dialect", "rocpd", statement, path]);
    rows.into_iter().map(|row| row.as_object().unwrap().clone().into_iter().collect()).collect()
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn statements_for_amds_databases_give_the_same_answers() {
    for database in DATABASES {
        let path = real(database);
        for statement in STATEMENTS {
            assert_eq!(ours(&path, statement), of_sqlite(&path, statement), "{database}: {statement}");
        }
    }
}

/// The names that can differ: those that depend on how texts are numbered, and what is not read, or is lost in a join of theirs.
const OTHERS: [&str; 3] = ["rocpd_metadata", "rocpd_string", "stream_args"];

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn each_name_has_amds_rows_and_columns() {
    for database in DATABASES {
        let path = real(database);
        let names = of_sqlite(&path, "SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name");
        assert!(names.len() > 30);
        for name in names.iter().map(|row| row["name"].as_str().unwrap()).filter(|name| !OTHERS.contains(name)) {
            let count = format!("SELECT COUNT(*) AS n FROM {name}");
            assert_eq!(ours(&path, &count), of_sqlite(&path, &count), "{database}: {name}");
            let header =
                succeed(&["sql", "-q", "--dialect", "rocpd", "-f", "csv", &format!("SELECT * FROM {name}"), &path]);
            let header: Vec<String> =
                header.lines().next().unwrap_or_default().split(',').map(str::to_lowercase).collect();
            let expected = of_sqlite(&path, &format!("SELECT name FROM pragma_table_info('{name}')"));
            let expected: Vec<String> =
                expected.iter().map(|row| row["name"].as_str().unwrap().to_lowercase()).collect();
            assert_eq!(header, expected, "{database}: {name}");
        }
    }
}

#[test]
fn rows_that_amds_views_lose_are_there() {
    // The database has no views, and dispatches without the names of ranges.
    let count = |statement: &str| ours("fixtures/two_nodes", statement)[0]["n"].as_i64().unwrap();
    assert_eq!(count("SELECT COUNT(*) AS n FROM kernels"), 288);
    assert!(count("SELECT COUNT(*) AS n FROM kernels WHERE region IS NULL") > 0);
    let busy = ours("fixtures/two_nodes", "SELECT * FROM busy");
    assert!(busy.len() > 1 && busy.iter().all(|row| row["Busy"].as_f64().unwrap() <= 1.0), "{busy:?}");
}

#[test]
fn names_are_known_by_option_or_where_only_amd_has_them() {
    let own = succeed(&["sql", "-q", "SELECT COUNT(duration_ns) AS n FROM kernels", "fixtures/merged"]);
    assert!(own.contains('n'));
    succeed(&["sql", "-q", "SELECT name FROM top LIMIT 1", "fixtures/merged"]);
    succeed(&["sql", "-q", "WITH top AS (SELECT 1 AS a) SELECT a FROM top", "fixtures/merged", "--dialect", "rocpd"]);
    let list = succeed(&["sql", "SHOW TABLES", "-f", "csv"]);
    assert!(list.contains("\nkernels,wavesieve,") && list.contains("\nrocpd_kernel_dispatch,rocpd,"), "{list}");
    let wrong = run(&["sql", "SELECT duration FROM kernels", "fixtures/merged"]);
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
}

/// polars forgets functions that are not its own in what is united.
#[test]
fn casts_work_in_united_queries() {
    let rows = records(&[
        "sql",
        "-q",
        "SELECT CAST(1.5 AS BIGINT) AS a UNION ALL SELECT CAST(regexp_replace('x3', 'x', '') AS BIGINT) AS a",
        "fixtures/merged",
    ]);
    let values: Vec<i64> = rows.iter().map(|row| row["a"].as_i64().unwrap()).collect();
    assert_eq!(values, [2, 3]);
}
