//! Reads a table row by row and takes whatever it holds: other types than declared, rows up to a damaged page.

use polars::prelude::*;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::column::{Columns, Kind, Misfit, Values, Wanted};
use super::json_text::text_of_blob;

/// Runs a query whose first column is the row id and whose other columns are `wanted`, in this order.
///
/// Rows that can be read before a damaged page are kept; the cause is in [`Columns::damage`].
pub fn read(connection: &Connection, sql: &str, wanted: &[Wanted]) -> Columns {
    let mut cells: Vec<Cells> = wanted.iter().map(|wanted| Cells::new(*wanted)).collect();
    let mut ids: Vec<i64> = Vec::new();
    let damage = step(connection, sql, &mut ids, &mut cells).err().map(|error| error.to_string());
    // A row that failed half-way has filled some columns only.
    let height = cells.iter().map(Cells::len).min().unwrap_or(ids.len()).min(ids.len());
    let mut columns = Columns { height, damage, ..Columns::default() };
    ids.truncate(height);
    columns.values.push(("id", Values::Integer(Int64Chunked::from_vec("id".into(), ids))));
    for cells in cells {
        columns.misfits.extend(cells.misfits.iter().flatten().cloned());
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
    misfits: [Option<Misfit>; 3],
}

impl Cells {
    fn new(wanted: Wanted) -> Self {
        Self { wanted, integers: Vec::new(), reals: Vec::new(), texts: Vec::new(), misfits: [None, None, None] }
    }

    fn len(&self) -> usize {
        match self.wanted.kind {
            Kind::Integer => self.integers.len(),
            Kind::Real => self.reals.len(),
            Kind::Text => self.texts.len(),
        }
    }

    fn push(&mut self, id: i64, value: ValueRef<'_>) {
        match self.wanted.kind {
            Kind::Integer => {
                let integer = self.integer(id, value);
                self.integers.push(integer);
            }
            Kind::Real => {
                let real = self.real(id, value);
                self.reals.push(real);
            }
            Kind::Text => {
                let text = self.text(id, value);
                self.texts.push(text);
            }
        }
    }

    fn text(&mut self, id: i64, value: ValueRef<'_>) -> Option<String> {
        match value {
            ValueRef::Null => None,
            ValueRef::Integer(integer) => Some(integer.to_string()),
            ValueRef::Real(real) => Some(real.to_string()),
            ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            ValueRef::Blob(bytes) => {
                let text = text_of_blob(bytes);
                if text.is_none() {
                    self.misfit(id, 2, "damaged LZ4");
                }
                text
            }
        }
    }

    fn integer(&mut self, id: i64, value: ValueRef<'_>) -> Option<i64> {
        match value {
            ValueRef::Null => None,
            ValueRef::Integer(integer) => Some(integer),
            ValueRef::Real(real) => {
                self.misfit(id, 0, "REAL");
                integer_of_real(real)
            }
            ValueRef::Text(bytes) => {
                self.misfit(id, 1, "TEXT");
                std::str::from_utf8(bytes).ok().and_then(|text| text.trim().parse().ok())
            }
            ValueRef::Blob(_) => {
                self.misfit(id, 2, "BLOB");
                None
            }
        }
    }

    fn real(&mut self, id: i64, value: ValueRef<'_>) -> Option<f64> {
        match value {
            ValueRef::Null => None,
            ValueRef::Integer(integer) => Some(integer as f64),
            ValueRef::Real(real) => Some(real),
            ValueRef::Text(bytes) => {
                self.misfit(id, 1, "TEXT");
                std::str::from_utf8(bytes).ok().and_then(|text| text.trim().parse().ok())
            }
            ValueRef::Blob(_) => {
                self.misfit(id, 2, "BLOB");
                None
            }
        }
    }

    fn misfit(&mut self, id: i64, slot: usize, found: &'static str) {
        if let Some(place) = self.misfits.get_mut(slot) {
            let misfit = place.get_or_insert(Misfit { column: self.wanted.name, found, count: 0, first_id: id });
            misfit.count += 1;
        }
    }

    fn into_values(self, height: usize) -> Values {
        let name: PlSmallStr = self.wanted.name.into();
        match self.wanted.kind {
            Kind::Integer => {
                Values::Integer(Int64Chunked::from_iter_options(name, self.integers.into_iter().take(height)))
            }
            Kind::Real => Values::Real(Float64Chunked::from_iter_options(name, self.reals.into_iter().take(height))),
            Kind::Text => Values::Text(StringChunked::from_iter_options(name, self.texts.into_iter().take(height))),
        }
    }
}

/// Integer that a real stands for. SQLite stores integers above 2^63 (addresses, handles) as reals: these keep the bits
/// of the unsigned number they were.
fn integer_of_real(real: f64) -> Option<i64> {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;
    if real.is_nan() || !(-TWO_TO_63..=TWO_TO_64).contains(&real) {
        return None;
    }
    if real < TWO_TO_63 { Some(real as i64) } else { Some((real as u64) as i64) }
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
        let of_a: Vec<(&str, i64, i64)> =
            columns.misfits.iter().filter(|m| m.column == "a").map(|m| (m.found, m.count, m.first_id)).collect();
        assert_eq!(of_a, [("REAL", 2, 2), ("TEXT", 2, 3)]);
        assert_eq!(columns.damage, None);
    }
}
