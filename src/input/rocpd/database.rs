//! Reads columns of the tables of one partition, in bulk where that is possible and carefully where it is not.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::column::{Columns, Kind, Wanted};
use super::container::{Partition, TableShape, open, quoted};
use super::{bulk, careful};
use crate::input::sqlite_uri::read_only_uri;

/// Tables with fewer row ids are read by one thread; starting more costs more than it saves.
const ROWS_PER_THREAD: i64 = 50_000;
/// Tables with fewer row ids are read without connectorx; its pool of connections costs more than it saves.
const BULK_ROWS: i64 = 4_096;

/// One partition of a database file.
#[derive(Clone, Debug)]
pub struct Database {
    path: PathBuf,
    partition: Partition,
    process_row: Option<i64>,
}

impl Database {
    /// A partition of the file at `path`. With `process_row`, activity tables are restricted to rows of that process.
    pub fn new(path: &Path, partition: Partition, process_row: Option<i64>) -> Self {
        Self { path: path.to_owned(), partition, process_row }
    }

    /// The partition.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// Reads the row id and the `wanted` columns of a table; those it lacks stay absent. A missing table has no rows.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn read(&self, base: &str, wanted: &[Wanted], threads: usize) -> Result<Columns> {
        self.read_where(base, wanted, "", threads)
    }

    /// As [`Database::read`], with a condition in SQL over the columns of the table.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn read_where(&self, base: &str, wanted: &[Wanted], condition: &str, threads: usize) -> Result<Columns> {
        let Some(table) = self.partition.table(base).filter(|table| table.has("id")) else {
            return Ok(Columns::default());
        };
        let present: Vec<Wanted> = wanted.iter().copied().filter(|wanted| table.has(wanted.name)).collect();
        let connection = open(&self.path)?;
        let condition = self.condition(table, condition);
        // A damaged page can be in the way of the extremes; then only the careful reader gets anywhere.
        let extremes = connection
            .query_row(&format!(include_str!("sql/extremes.sql"), table = quoted(&table.name)), [], |row| {
                Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
            })
            .ok();
        if let Some((None, _) | (_, None)) = extremes {
            return Ok(careful::read(&connection, &select(table, &present, &condition), &present));
        }
        if let Some((Some(first), Some(last))) = extremes
            && last.saturating_sub(first) >= BULK_ROWS
            && present.iter().all(|wanted| declared_as_wanted(table, *wanted))
        {
            let queries = partitioned(table, &present, &condition, first, last, threads);
            if let Ok(columns) = bulk::read(&read_only_uri(&self.path)?, &queries, &present) {
                return Ok(columns);
            }
        }
        Ok(careful::read(&connection, &select(table, &present, &condition), &present))
    }

    /// Number of rows of a table, 0 when it is missing. Behind a damaged page only the rows before it are counted, and
    /// the cause is given.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn count(&self, base: &str, condition: &str) -> Result<(u64, Option<String>)> {
        let Some(table) = self.partition.table(base) else { return Ok((0, None)) };
        let connection = open(&self.path)?;
        let condition = self.condition(table, condition);
        let sql = format!(include_str!("sql/count.sql"), table = quoted(&table.name), condition = condition);
        if let Ok(count) = connection.query_row(&sql, [], |row| row.get::<_, i64>(0)) {
            return Ok((count.try_into().unwrap_or(0), None));
        }
        let columns = careful::read(&connection, &select(table, &[], &condition), &[]);
        Ok((columns.height as u64, columns.damage))
    }

    fn condition(&self, table: &TableShape, condition: &str) -> String {
        let own = self.process_row.filter(|_| table.has("pid")).map(|row| format!("pid = {row}"));
        let given = Some(condition).filter(|condition| !condition.is_empty()).map(|condition| format!("({condition})"));
        let all: Vec<String> = own.into_iter().chain(given).collect();
        if all.is_empty() { String::new() } else { format!("WHERE {}", all.join(" AND ")) }
    }
}

fn declared_as_wanted(table: &TableShape, wanted: Wanted) -> bool {
    let declared = table.columns.get(wanted.name).map_or("", String::as_str);
    match wanted.kind {
        Kind::Integer => declared.contains("INT") && !matches!(declared, "INT4" | "INT2"),
        Kind::Real => declared.contains("REAL") || declared.contains("FLOA") || declared.contains("DOUB"),
        Kind::Text => declared.contains("TEXT") || declared.contains("CHAR"),
    }
}

fn select(table: &TableShape, wanted: &[Wanted], condition: &str) -> String {
    let columns: String = wanted.iter().map(|wanted| format!(", {}", quoted(wanted.name))).collect();
    format!(include_str!("sql/columns.sql"), columns = columns, table = quoted(&table.name), condition = condition)
}

fn partitioned(
    table: &TableShape,
    wanted: &[Wanted],
    condition: &str,
    first: i64,
    last: i64,
    threads: usize,
) -> Vec<String> {
    // Ids of a damaged or foreign file may lie anywhere, so that their spread need not fit 64 bits.
    let (first, last) = (i128::from(first), i128::from(last));
    let rows = last - first + 1;
    let parts = (rows / i128::from(ROWS_PER_THREAD)).clamp(1, threads.max(1) as i128);
    let size = rows / parts + 1;
    (0..parts)
        .map(|part| {
            let from = first + part * size;
            let to = (from + size - 1).min(last);
            let range = format!("id BETWEEN {from} AND {to}");
            let condition =
                if condition.is_empty() { format!("WHERE {range}") } else { format!("{condition} AND {range}") };
            select(table, wanted, &condition)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn ranges_cover_ids_that_lie_anywhere() {
        let table = TableShape { name: "t".to_owned(), columns: BTreeMap::new() };
        let queries = partitioned(&table, &[], "", i64::MIN, i64::MAX, 2);
        assert_eq!(queries.len(), 2);
        assert!(queries[0].contains(&format!("BETWEEN {} AND 0", i64::MIN)), "{}", queries[0]);
        assert!(queries[1].contains(&format!("BETWEEN 1 AND {}", i64::MAX)), "{}", queries[1]);
    }
}
