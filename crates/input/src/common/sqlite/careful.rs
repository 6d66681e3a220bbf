//! Reads a table row by row and accepts all content: other types than declared, and rows up to a damaged page.

use polars::prelude::*;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::column::{ColumnKind, Columns, Values, Wanted};
use super::gather::named;
use super::json_text::text_of_blob;
use super::pages::{TypeMismatches, Value, integer_of, real_of, text_of};

/// Runs a query whose first column is the row id and whose other columns are `wanted`, in this order.
///
/// Rows that can be read before a damaged page are kept; the cause is in [`Columns::damage`].
pub fn read(connection: &Connection, sql: &str, wanted: &[Wanted]) -> Columns {
    let mut cells: Vec<Cells> = wanted.iter().map(|wanted| Cells::new(*wanted)).collect();
    let mut ids: Vec<i64> = Vec::new();
    let error = step(connection, sql, &mut ids, &mut cells).err();
    // A row that failed half-way has filled only some columns.
    let height = cells.iter().map(Cells::len).min().unwrap_or(ids.len()).min(ids.len());
    let damage = error.map(|error| format!("{error} after {height} rows"));
    let mut columns = Columns { height, damage, ..Columns::default() };
    ids.truncate(height);
    columns.values.push(("id", Values::Integer(Int64Chunked::from_vec("id".into(), ids))));
    for cells in cells {
        columns.type_mismatches.extend(named(&cells.wanted, &cells.type_mismatches));
        columns.values.push((cells.wanted.name, cells.into_values(height)));
    }
    columns
}

fn step(connection: &Connection, sql: &str, ids: &mut Vec<i64>, cells: &mut [Cells]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id = row.get::<_, i64>(0)?;
        ids.push(id);
        for (index, cells) in cells.iter_mut().enumerate() {
            cells.push(id, row.get_ref(index + 1)?);
        }
    }
    Ok(())
}

struct Cells {
    wanted: Wanted,
    integers: Vec<Option<i64>>,
    reals: Vec<Option<f64>>,
    texts: Vec<Option<String>>,
    type_mismatches: TypeMismatches,
}

impl Cells {
    fn new(wanted: Wanted) -> Self {
        let type_mismatches = TypeMismatches::default();
        Self { wanted, integers: Vec::new(), reals: Vec::new(), texts: Vec::new(), type_mismatches }
    }

    fn len(&self) -> usize {
        match self.wanted.kind {
            ColumnKind::Integer => self.integers.len(),
            ColumnKind::Real => self.reals.len(),
            ColumnKind::Text => self.texts.len(),
        }
    }

    fn push(&mut self, id: i64, value: ValueRef<'_>) {
        let value = match value {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(integer) => Value::Integer(integer),
            ValueRef::Real(real) => Value::Real(real),
            ValueRef::Text(bytes) => Value::Text(bytes),
            ValueRef::Blob(bytes) => Value::Blob(bytes),
        };
        let odd = match self.wanted.kind {
            ColumnKind::Integer => {
                let (integer, odd) = integer_of(value);
                self.integers.push(integer);
                odd
            }
            ColumnKind::Real => {
                let (real, odd) = real_of(value);
                self.reals.push(real);
                odd
            }
            ColumnKind::Text => {
                let (text, odd) = text_of(value, text_of_blob);
                self.texts.push(text);
                odd
            }
        };
        odd.into_iter().for_each(|odd| self.type_mismatches.count(odd, id));
    }

    fn into_values(self, height: usize) -> Values {
        let name: PlSmallStr = self.wanted.name.into();
        match self.wanted.kind {
            ColumnKind::Integer => {
                Values::Integer(Int64Chunked::from_iter_options(name, self.integers.into_iter().take(height)))
            }
            ColumnKind::Real => {
                Values::Real(Float64Chunked::from_iter_options(name, self.reals.into_iter().take(height)))
            }
            ColumnKind::Text => {
                Values::Text(StringChunked::from_iter_options(name, self.texts.into_iter().take(height)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::column::{integer, real, text};
    use super::*;

    #[test]
    fn other_types_are_kept_and_counted() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c);
                 INSERT INTO t VALUES (1, 5, 1, 'x'), (2, 1.8446744073709550e19, 2.5, 7), (3, ' 9', NULL, NULL),
                                      (4, 'no', '3', x'ff'), (5, 7.0, 0, 'y');",
            )
            .unwrap();
        let wanted = [integer("a"), real("b"), text("c")];
        let columns = read(&connection, "SELECT id, a, b, c FROM t", &wanted);
        let integers: Vec<Option<i64>> = columns.integers("a").iter().collect();
        assert_eq!(integers, [Some(5), Some(-2048), Some(9), None, Some(7)]);
        let reals: Vec<Option<f64>> = columns.reals("b").iter().collect();
        assert_eq!(reals, [Some(1.0), Some(2.5), None, Some(3.0), Some(0.0)]);
        let texts = columns.texts("c");
        assert_eq!(texts.get(1), Some("7"));
        let of_a: Vec<(&str, i64, i64)> = columns
            .type_mismatches
            .iter()
            .filter(|m| m.column == "a")
            .map(|m| (m.found, m.count, m.first_id))
            .collect();
        assert_eq!(of_a, [("REAL", 2, 2), ("TEXT", 2, 3)]);
        assert_eq!(columns.damage, None);
    }
}
