//! Compares the page reader with SQLite, on databases of every shape.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rusqlite::{Connection, params_from_iter, types};
use tempfile::TempDir;

use super::column::{Columns, Values, Wanted, integer, real, text};
use super::condition::Condition;
use super::database::{TableShape, open, shape};
use super::pages::RowTest;
use super::store::{Reader, Store};
use super::table::{Selection, count, read};

#[derive(Clone, Debug)]
enum Table {
    RowId,
    Autoincrement,
    NoKey,
    OtherKey,
    DescendingKey,
    WithoutRowId,
}

impl Table {
    fn sql(&self) -> &'static str {
        match self {
            Self::RowId => "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b REAL, c TEXT, d)",
            Self::Autoincrement => {
                "CREATE TABLE t(a INT, id INTEGER PRIMARY KEY AUTOINCREMENT, b DOUBLE, c VARCHAR(9), d)"
            }
            Self::NoKey => "CREATE TABLE t(a BIGINT, b FLOAT, c, d JSONB)",
            Self::OtherKey => "CREATE TABLE t(id INT PRIMARY KEY, a INTEGER, b REAL, c TEXT, d)",
            Self::DescendingKey => "CREATE TABLE t(id INTEGER PRIMARY KEY DESC, a INTEGER, b REAL, c TEXT, d)",
            Self::WithoutRowId => "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b REAL, c TEXT, d) WITHOUT ROWID",
        }
    }

    fn key(&self) -> &'static str {
        if matches!(self, Self::NoKey) { "rowid" } else { "id" }
    }

    /// Whether its pages can be read without SQLite.
    fn is_of_pages(&self) -> bool {
        matches!(self, Self::RowId | Self::Autoincrement | Self::NoKey)
    }
}

#[derive(Clone, Debug)]
struct Recipe {
    table: Table,
    page_size: u32,
    auto_vacuum: u8,
    reserved: u8,
    rows: Vec<(i64, [types::Value; 4])>,
    delete: bool,
    added: Option<&'static str>,
    vacuum: bool,
}

fn value() -> impl Strategy<Value = types::Value> {
    prop_oneof![
        2 => Just(types::Value::Null),
        4 => (-3_i64..4).prop_map(types::Value::Integer),
        4 => any::<i64>().prop_map(types::Value::Integer),
        2 => (-40_000_i64..40_000).prop_map(types::Value::Integer),
        3 => any::<f64>().prop_map(types::Value::Real),
        1 => (-9_i32..9).prop_map(|real| types::Value::Real(f64::from(real))),
        2 => "[a-z0-9 .{}é\u{0}-]{0,20}".prop_map(types::Value::Text),
        1 => (0_usize..4_000).prop_map(|length| types::Value::Text("x".repeat(length))),
        1 => Just(types::Value::Text("17".to_owned())),
        1 => prop::collection::vec(any::<u8>(), 0..900).prop_map(types::Value::Blob),
    ]
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let table = prop_oneof![
        4 => Just(Table::RowId),
        2 => Just(Table::Autoincrement),
        2 => Just(Table::NoKey),
        1 => Just(Table::OtherKey),
        1 => Just(Table::DescendingKey),
        1 => Just(Table::WithoutRowId)
    ];
    let id = prop_oneof![8 => 1_i64..2_000, 1 => any::<i64>()];
    let values = [value(), value(), value(), value()];
    (
        table,
        (9_u32..17).prop_map(|power| 1 << power),
        0_u8..3,
        prop_oneof![Just(0_u8), Just(8), Just(31)],
        prop::collection::vec((id, values), 0..160),
        any::<bool>(),
        prop_oneof![Just(None), Just(Some("e INTEGER")), Just(Some("e TEXT DEFAULT 'new'"))],
        any::<bool>(),
    )
        .prop_map(|(table, page_size, auto_vacuum, reserved, rows, delete, added, vacuum)| Recipe {
            table,
            page_size,
            auto_vacuum,
            reserved,
            rows,
            delete,
            added,
            vacuum,
        })
}

fn build(recipe: &Recipe, path: &Path) {
    let connection = Connection::open(path).unwrap();
    reserve(&connection, recipe.reserved);
    let pragmas = format!(
        "PRAGMA page_size={}; PRAGMA auto_vacuum={}; PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY; BEGIN;",
        recipe.page_size, recipe.auto_vacuum
    );
    connection.execute_batch(&pragmas).unwrap();
    connection.execute_batch("CREATE TABLE other(x); INSERT INTO other VALUES (1), (2);").unwrap();
    connection.execute_batch(recipe.table.sql()).unwrap();
    let insert = format!("INSERT OR REPLACE INTO t({}, a, b, c, d) VALUES (?, ?, ?, ?, ?)", recipe.table.key());
    let half = recipe.rows.len() / 2;
    let add = |rows: &[(i64, [types::Value; 4])]| {
        for (id, values) in rows {
            let all = std::iter::once(types::Value::Integer(*id)).chain(values.iter().cloned());
            connection.execute(&insert, params_from_iter(all)).unwrap();
        }
    };
    add(&recipe.rows[..half]);
    if let Some(added) = recipe.added {
        connection.execute_batch(&format!("ALTER TABLE t ADD COLUMN {added}")).unwrap();
    }
    add(&recipe.rows[half..]);
    // Adds text that is not UTF-8, and freed space.
    connection.execute_batch("UPDATE t SET c = CAST(x'78ff79' AS TEXT) WHERE a = 2").unwrap();
    if recipe.delete {
        connection.execute_batch(&format!("DELETE FROM t WHERE {} % 3 = 0", recipe.table.key())).unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
    if recipe.vacuum {
        connection.execute_batch("VACUUM").unwrap();
    }
}

fn reserve(connection: &Connection, bytes: u8) {
    let mut bytes = i32::from(bytes);
    // SAFETY: the handle belongs to an open connection, and the operation takes a pointer to an int that outlives it.
    let code = unsafe {
        rusqlite::ffi::sqlite3_file_control(
            connection.handle(),
            c"main".as_ptr(),
            rusqlite::ffi::SQLITE_FCNTL_RESERVE_BYTES,
            (&raw mut bytes).cast(),
        )
    };
    assert_eq!(code, 0);
}

fn made(recipe: &Recipe) -> (TempDir, PathBuf, TableShape) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("made.db");
    build(recipe, &path);
    let shape = shape(&open(&path).unwrap(), "t").unwrap();
    (directory, path, shape)
}

const WANTED: &[Wanted] =
    &[integer("d"), text("c"), integer("a"), real("b"), text("d"), real("a"), integer("e"), text("b"), text("e")];

/// The rows in comparable form.
fn rows(columns: &Columns) -> Vec<Vec<String>> {
    let mut rows = vec![Vec::new(); columns.height];
    for (_, values) in &columns.values {
        let cells: Vec<String> = match values {
            Values::Integer(values) => values.iter().map(|value| format!("{value:?}")).collect(),
            Values::Real(values) => values.iter().map(|value| format!("{value:?}")).collect(),
            Values::Text(values) => values.iter().map(|value| format!("{value:?}")).collect(),
        };
        assert_eq!(cells.len(), columns.height);
        rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    }
    rows
}

/// The results of the two readers; the second is `None` if the pages cannot be read without SQLite.
fn both(path: &Path, selection: Selection<'_>, threads: usize) -> (Columns, Option<Columns>) {
    let present: Vec<Wanted> = WANTED.iter().copied().filter(|wanted| selection.table.has(wanted.name)).collect();
    let sqlite = read(&Store::new(path, Reader::Sqlite), selection, &present, threads).unwrap();
    let store = Store::checked(path, Reader::Pages).unwrap();
    (sqlite, store.pages().unwrap().read(selection, &present, threads).ok())
}

fn read_texts(path: &Path, selection: Selection<'_>) -> Columns {
    read(&Store::new(path, Reader::Sqlite), selection, &[text("c")], 2).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn pages_hold_what_sqlite_reads(recipe in recipe(), threads in 1_usize..3) {
        let (_directory, path, shape) = made(&recipe);
        let selection = Selection { table: &shape, key: recipe.table.key(), condition: &Condition::all() };
        let (mut sqlite, pages) = both(&path, selection, threads);
        let has_short_rows = recipe.added.is_some_and(|added| added.contains("DEFAULT"));
        prop_assert!(pages.is_some() || !recipe.table.is_of_pages() || has_short_rows, "pages were not read");
        prop_assert!(pages.is_none() || recipe.table.is_of_pages());
        if let Some(pages) = pages {
            prop_assert_eq!(rows(&pages), rows(&sqlite));
            sqlite.type_mismatches.sort_by_key(|type_mismatch| (type_mismatch.column, type_mismatch.found, type_mismatch.first_id));
            let mut type_mismatches = pages.type_mismatches.clone();
            type_mismatches.sort_by_key(|type_mismatch| (type_mismatch.column, type_mismatch.found, type_mismatch.first_id));
            prop_assert_eq!(type_mismatches, sqlite.type_mismatches);
            prop_assert_eq!(pages.damage, None);
        }
        for reader in [Reader::Sqlite, Reader::Auto] {
            prop_assert_eq!(count(&Store::new(&path, reader), selection, threads).unwrap(), (sqlite.height as u64, None));
        }
    }

    #[test]
    fn rows_are_chosen_as_sqlite_does(recipe in recipe(), number in -3_i64..4, has_content in any::<bool>()) {
        let (_directory, path, shape) = made(&recipe);
        let condition = if has_content {
            Condition::all().and(RowTest::SaysSomething(vec!["c", "d"]))
        } else {
            Condition::all().and(RowTest::AtMost("a", number)).and(RowTest::NoneOf("d", vec![number, 2]))
        };
        let selection = Selection { table: &shape, key: recipe.table.key(), condition: &condition };
        let (sqlite, pages) = both(&path, selection, 2);
        if let Some(pages) = pages {
            prop_assert_eq!(rows(&pages), rows(&sqlite));
        }
        for reader in [Reader::Sqlite, Reader::Auto] {
            prop_assert_eq!(count(&Store::new(&path, reader), selection, 2).unwrap(), (sqlite.height as u64, None));
        }
    }

    #[test]
    fn rows_are_found_by_their_keys(recipe in recipe(), others in prop::collection::vec(-9_i64..2_100, 0..30)) {
        let recipe = Recipe { table: Table::RowId, added: None, ..recipe };
        let (_directory, path, shape) = made(&recipe);
        let some = recipe.rows.iter().step_by(7).map(|(id, _)| *id);
        let ids: Vec<i64> = some.chain(others).chain([i64::MIN, i64::MAX]).collect();
        let condition = Condition::all().and(RowTest::OneOf("id", ids.clone()));
        let selection = Selection { table: &shape, key: "id", condition: &condition };
        let (sqlite, _) = both(&path, selection, 2);
        let store = Store::checked(&path, Reader::Pages).unwrap();
        let pages = store.pages().unwrap();
        let all = Selection { condition: &Condition::all(), ..selection };
        // The result must not depend on known leaves, or on the leaves that were read last.
        for _ in 0..2 {
            prop_assert_eq!(rows(&pages.read(selection, &[text("c")], 2).unwrap()), rows(&read_texts(&path, selection)));
            let whole = pages.read(all, &[integer("a")], 2).unwrap();
            prop_assert_eq!((whole.height, whole.left_out), (read_texts(&path, all).height, Some(0)));
        }
        prop_assert_eq!(pages.count(selection, 2).unwrap(), (sqlite.height as u64, None));
        prop_assert!(sqlite.integers("id").iter().flatten().all(|id| ids.contains(&id)));
    }

    #[test]
    fn a_cut_file_gives_rows_that_were_there(recipe in recipe(), kept in 0.1_f64..1.0) {
        let recipe = Recipe { table: Table::RowId, added: None, ..recipe };
        let (_directory, path, shape) = made(&recipe);
        let condition = Condition::all();
        let selection = Selection { table: &shape, key: "id", condition: &condition };
        let whole = rows(&both(&path, selection, 2).0);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..(bytes.len() as f64 * kept) as usize]).unwrap();
        let store = Store::new(&path, Reader::Auto);
        let Some(pages) = store.pages() else { return Ok(()) };
        let present: Vec<Wanted> = WANTED.iter().copied().filter(|wanted| shape.has(wanted.name)).collect();
        let salvaged = pages.read(selection, &present, 2).unwrap();
        let (counted, damage) = pages.count(selection, 2).unwrap();
        let salvaged_rows = rows(&salvaged);
        prop_assert!(salvaged_rows.iter().all(|row| whole.contains(row)));
        prop_assert!(salvaged_rows.len() == whole.len() || salvaged.damage.is_some());
        prop_assert!(salvaged.damage.is_some() || damage.is_none());
        // The row counts of pages are used even if one of their rows continues on a missing page.
        prop_assert!(counted >= salvaged.height as u64);
        // SQLite stops at the first missing page, and reads zeros in place of the lost bytes of the cut page. They are right by chance if
        // the row at the cut ends in zeros; the page reader does not return that row.
        let sqlite = read(&Store::new(&path, Reader::Sqlite), selection, &present, 2);
        if let Ok(sqlite) = sqlite {
            let sqlite = rows(&sqlite).into_iter().filter(|row| whole.contains(row)).count();
            prop_assert!(salvaged.height + 1 >= sqlite, "{} rows instead of {sqlite}", salvaged.height);
        }
    }

    #[test]
    fn changed_bytes_neither_panic_nor_hang_nor_repeat_rows(
        recipe in recipe(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
    ) {
        let recipe = Recipe { table: Table::RowId, ..recipe };
        let (_directory, path, shape) = made(&recipe);
        let mut bytes = std::fs::read(&path).unwrap();
        for (place, byte) in changes {
            // The header of the file stays unchanged: errors in it are found at once.
            let place = 100 + place.index(bytes.len() - 100);
            bytes[place] = byte;
        }
        std::fs::write(&path, &bytes).unwrap();
        let condition = Condition::all();
        let selection = Selection { table: &shape, key: "id", condition: &condition };
        let store = Store::new(&path, Reader::Auto);
        let present: Vec<Wanted> = WANTED.iter().copied().filter(|wanted| shape.has(wanted.name)).collect();
        if let Some(Ok(columns)) = store.pages().map(|pages| pages.read(selection, &present, 2)) {
            let ids: Vec<i64> = columns.integers("id").iter().flatten().collect();
            prop_assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
