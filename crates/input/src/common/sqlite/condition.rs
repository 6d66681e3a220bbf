//! Selection of the rows of a table: tests for both readers, and conditions that only SQLite knows.

use super::database::quoted;
use super::pages::RowTest;
use wavesieve_tables::columns::reading::{RowRange, ScanHint};

/// Maximum number of ids in an SQL list. A longer list would be too long for SQLite, so it only gets the smallest and the largest id.
const MAX_LISTED: usize = 20_000;
/// Maximum kernel ids in a condition; with more, rows are chosen only after reading.
pub(crate) const LISTED_KERNELS: usize = 2_000;

/// Conditions on the rows of a table, which must all hold; empty for all rows.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    tests: Vec<RowTest<&'static str>>,
    sql: Vec<String>,
}

impl Condition {
    /// All rows.
    pub fn all() -> Self {
        Self::default()
    }

    /// Adds a test.
    pub fn and(mut self, mut test: RowTest<&'static str>) -> Self {
        if let RowTest::OneOf(_, ids) | RowTest::OneOfOrNull(_, ids) | RowTest::NoneOf(_, ids) = &mut test {
            ids.sort_unstable();
        }
        self.tests.push(test);
        self
    }

    /// Adds the bounds of a range of rows by their `key`.
    pub(crate) fn and_rows(self, key: &'static str, rows: RowRange) -> Self {
        self.and(RowTest::AtLeast(key, rows.first)).and(RowTest::AtMost(key, rows.last))
    }

    /// Adds a condition in SQL, if it is not empty.
    pub(crate) fn and_sql(mut self, sql: impl Into<String>) -> Self {
        let sql = sql.into();
        if !sql.is_empty() {
            self.sql.push(sql);
        }
        self
    }

    /// Adds all parts of another condition.
    pub(crate) fn and_all(mut self, other: Self) -> Self {
        self.tests.extend(other.tests);
        self.sql.extend(other.sql);
        self
    }

    /// Adds the time limits of a query to a table with a start and an end.
    pub(crate) fn and_times(self, hint: &ScanHint) -> Self {
        let tests = [
            hint.latest_start_ns.map(|latest| RowTest::AtMost("start", latest)),
            hint.earliest_end_ns.map(|earliest| RowTest::AtLeast("end", earliest)),
            hint.min_duration_ns.map(|least| RowTest::LastsAtLeast("start", "end", least)),
        ];
        tests.into_iter().flatten().fold(self, Self::and)
    }

    /// The tests, unless there are conditions that only SQLite knows.
    pub fn tests(&self) -> Option<&[RowTest<&'static str>]> {
        self.sql.is_empty().then_some(self.tests.as_slice())
    }

    /// The whole condition in SQL; empty for all rows.
    pub(crate) fn to_sql(&self) -> String {
        let given = self.sql.iter().map(|sql| format!("({sql})"));
        self.tests.iter().map(sql_of).chain(given).collect::<Vec<String>>().join(" AND ")
    }
}

/// A test in SQL. It keeps rows whose values are not numbers, because the reader may interpret them differently. The reader tests them
/// again.
fn sql_of(test: &RowTest<&'static str>) -> String {
    let sql = match test {
        RowTest::Same(one, other) => format!(include_str!("sql/same.sql"), one = quoted(one), other = quoted(other)),
        RowTest::Different(one, other) => {
            format!(include_str!("sql/different.sql"), one = quoted(one), other = quoted(other))
        }
        RowTest::AtMost(column, most) => format!(include_str!("sql/at_most.sql"), column = quoted(column), most = most),
        RowTest::AtLeast(column, least) => {
            format!(include_str!("sql/at_least.sql"), column = quoted(column), least = least)
        }
        RowTest::LastsAtLeast(start, end, least) => {
            format!(include_str!("sql/lasts.sql"), start = quoted(start), end = quoted(end), least = least)
        }
        RowTest::OneOf(column, ids) if ids.len() > MAX_LISTED => {
            let bounds = [
                ids.first().map(|least| RowTest::AtLeast(*column, *least)),
                ids.last().map(|most| RowTest::AtMost(*column, *most)),
            ];
            bounds.iter().flatten().map(sql_of).collect::<Vec<String>>().join(" AND ")
        }
        RowTest::OneOf(column, ids) => {
            format!(include_str!("sql/one_of.sql"), column = quoted(column), ids = listed(ids))
        }
        RowTest::OneOfOrNull(column, ids) => {
            format!(include_str!("sql/one_of_or_null.sql"), column = quoted(column), ids = listed(ids))
        }
        // The list is too long for a statement; the reader tests the rows.
        RowTest::NoneOf(_, ids) if ids.len() > MAX_LISTED => "TRUE".to_owned(),
        RowTest::NoneOf(column, ids) => {
            format!(include_str!("sql/none_of.sql"), column = quoted(column), ids = listed(ids))
        }
        RowTest::SaysSomething(columns) => {
            let each = columns.iter().map(|column| {
                format!(include_str!("sql/says_something.sql"), column = quoted(column)).trim_end().to_owned()
            });
            format!("({})", each.collect::<Vec<String>>().join(" OR "))
        }
    };
    sql.trim_end().to_owned()
}

/// Ids as a list in SQL.
pub fn listed(ids: &[i64]) -> String {
    ids.iter().map(i64::to_string).collect::<Vec<String>>().join(", ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::Connection;

    use super::super::pages::Value;
    use super::*;

    fn test() -> impl Strategy<Value = RowTest<&'static str>> {
        let ids = || prop::collection::btree_set(-3_i64..4, 0..4).prop_map(|ids| ids.into_iter().collect());
        prop_oneof![
            Just(RowTest::Same("a", "b")),
            Just(RowTest::Different("a", "b")),
            (-3_i64..4).prop_map(|most| RowTest::AtMost("a", most)),
            (-3_i64..4).prop_map(|least| RowTest::AtLeast("a", least)),
            prop_oneof![-3_i64..4, any::<i64>()].prop_map(|least| RowTest::LastsAtLeast("a", "b", least)),
            ids().prop_map(|ids| RowTest::OneOf("a", ids)),
            ids().prop_map(|ids| RowTest::OneOfOrNull("a", ids)),
            ids().prop_map(|ids| RowTest::NoneOf("a", ids)),
        ]
    }

    fn number() -> impl Strategy<Value = Option<i64>> {
        prop_oneof![
            1 => Just(None),
            6 => (-3_i64..4).prop_map(Some),
            1 => prop_oneof![Just(i64::MIN), Just(i64::MAX)].prop_map(Some)
        ]
    }

    proptest! {
        #[test]
        fn a_test_says_what_its_sql_says(test in test(), a in number(), b in number()) {
            let connection = Connection::open_in_memory().unwrap();
            let sql = format!("SELECT EXISTS (SELECT 1 FROM (SELECT ?1 AS a, ?2 AS b) WHERE {})", sql_of(&test));
            let chosen: bool = connection.query_row(&sql, (a, b), |row| row.get(0)).unwrap();
            let of = |name: &&str| if *name == "a" { a } else { b }.map_or(Value::Null, Value::Integer);
            prop_assert_eq!(test.holds(of), Some(chosen), "{}", sql);
        }
    }

    #[test]
    fn long_lists_are_bounds() {
        let test = RowTest::OneOf("a", (5..5 + MAX_LISTED as i64 + 1).collect());
        let connection = Connection::open_in_memory().unwrap();
        let chosen = |number: i64| -> bool {
            let sql = format!("SELECT EXISTS (SELECT 1 FROM (SELECT ?1 AS a) WHERE {})", sql_of(&test));
            connection.query_row(&sql, [number], |row| row.get(0)).unwrap()
        };
        assert_eq!([4, 5, 20_005, 20_006].map(chosen), [false, true, true, false]);
    }

    #[test]
    fn texts_that_say_something() {
        let connection = Connection::open_in_memory().unwrap();
        let test = RowTest::SaysSomething(vec!["a"]);
        let sql = format!("SELECT EXISTS (SELECT 1 FROM (SELECT ?1 AS a) WHERE {})", sql_of(&test));
        for text in ["", "{}", "x", "\0x", "{} "] {
            let chosen: bool = connection.query_row(&sql, [text], |row| row.get(0)).unwrap();
            assert_eq!(test.holds(|_| Value::Text(text.as_bytes())), Some(chosen), "{text:?}");
            let chosen: bool = connection.query_row(&sql, [text.as_bytes()], |row| row.get(0)).unwrap();
            assert_eq!(test.holds(|_| Value::Blob(text.as_bytes())), Some(chosen), "{text:?}");
        }
    }
}
