//! Reads columns of the tables of one partition, in bulk where that is possible and carefully where it is not.

use std::sync::Arc;

use anyhow::Result;

use super::column::{Columns, Kind, Wanted, integer};
use super::container::{Partition, TableShape, open, quoted};
use super::dialect::is_track_based;
use super::readable::Readable;
use super::tracks::{self, OF_TRACK, TrackCache, Tracks};
use super::{bulk, careful};
use crate::input::sqlite_uri::read_only_uri;

/// Tables with fewer row ids are read by one thread; starting more costs more than it saves.
const ROWS_PER_THREAD: i64 = 50_000;
/// Tables with fewer row ids are read without connectorx; its pool of connections costs more than it saves.
const BULK_ROWS: i64 = 4_096;

/// The process that rows belong to, in a partition that holds several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Row id in `info_process`.
    pub row: i64,
    /// Process id of the operating system.
    pub pid: i64,
    /// Whether it takes the rows on tracks of no process too.
    pub first: bool,
}

/// One partition of a database file.
#[derive(Clone, Debug)]
pub struct Database {
    file: Arc<Readable>,
    partition: Partition,
    owner: Option<Owner>,
    tracks: Arc<TrackCache>,
}

impl Database {
    /// A partition of a file. With an `owner`, activity tables are restricted to rows of that process.
    pub fn new(file: Arc<Readable>, partition: Partition, owner: Option<Owner>) -> Self {
        Self { file, partition, owner, tracks: Arc::default() }
    }

    /// The partition.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The tracks of the partition.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn tracks(&self) -> Result<&Tracks> {
        self.tracks.get(self)
    }

    /// The same partition with the rows of all its processes.
    pub fn of_all_processes(&self) -> Self {
        Self { owner: None, ..self.clone() }
    }

    /// Reads the row id and the `wanted` columns of a table; those it lacks stay absent. A missing table has no rows.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn read(&self, base: &str, wanted: &[Wanted], threads: usize) -> Result<Columns> {
        self.read_where(base, wanted, "", threads)
    }

    /// As [`Database::read`], with a condition in SQL over the columns of the table. Threads, queues, streams and agents
    /// that only the track of a row has are those of the track.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn read_where(&self, base: &str, wanted: &[Wanted], condition: &str, threads: usize) -> Result<Columns> {
        let Some(table) = self.partition.table(base).filter(|table| table.has("id")) else {
            return Ok(Columns::default());
        };
        let mut present: Vec<Wanted> = wanted.iter().copied().filter(|wanted| table.has(wanted.name)).collect();
        let on_tracks: Vec<&'static str> = wanted
            .iter()
            .map(|wanted| wanted.name)
            .filter(|name| !table.has(name) && table.has("track_id") && OF_TRACK.contains(name))
            .collect();
        if !on_tracks.is_empty() && !present.contains(&integer("track_id")) {
            present.push(integer("track_id"));
        }
        let mut columns = self.read_table(table, &present, condition, threads)?;
        if !on_tracks.is_empty() {
            tracks::add(&mut columns, self.tracks()?, &on_tracks);
        }
        Ok(columns)
    }

    fn read_table(&self, table: &TableShape, present: &[Wanted], condition: &str, threads: usize) -> Result<Columns> {
        let connection = open(self.file.path())?;
        let condition = self.condition(table, condition);
        // A damaged page can be in the way of the extremes; then only the careful reader gets anywhere.
        let extremes = connection
            .query_row(&format!(include_str!("sql/extremes.sql"), table = quoted(&table.name)), [], |row| {
                Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
            })
            .ok();
        if let Some((None, _) | (_, None)) = extremes {
            return Ok(careful::read(&connection, &select(table, present, &condition), present));
        }
        if let Some((Some(first), Some(last))) = extremes
            && last.saturating_sub(first) >= BULK_ROWS
            && present.iter().all(|wanted| declared_as_wanted(table, *wanted))
        {
            let queries = partitioned(table, present, &condition, first, last, threads);
            if let Ok(columns) = bulk::read(&read_only_uri(self.file.path())?, &queries, present) {
                return Ok(columns);
            }
        }
        Ok(careful::read(&connection, &select(table, present, &condition), present))
    }

    /// Whether a table has a row that can be read, of whatever process.
    pub fn has_rows(&self, base: &str) -> bool {
        self.partition.table(base).is_some_and(|table| {
            let sql = format!(include_str!("sql/exists.sql"), table = quoted(&table.name));
            open(self.file.path()).is_ok_and(|connection| connection.query_row(&sql, [], |_| Ok(())).is_ok())
        })
    }

    /// Number of rows of a table, 0 when it is missing. Behind a damaged page only the rows before it are counted, and
    /// the cause is given.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn count(&self, base: &str, condition: &str) -> Result<(u64, Option<String>)> {
        let Some(table) = self.partition.table(base) else { return Ok((0, None)) };
        let connection = open(self.file.path())?;
        let condition = self.condition(table, condition);
        let sql = format!(include_str!("sql/count.sql"), table = quoted(&table.name), condition = condition);
        if let Ok(count) = connection.query_row(&sql, [], |row| row.get::<_, i64>(0)) {
            return Ok((count.try_into().unwrap_or(0), None));
        }
        let columns = careful::read(&connection, &select(table, &[], &condition), &[]);
        Ok((columns.height as u64, columns.damage))
    }

    fn condition(&self, table: &TableShape, condition: &str) -> String {
        let own = self.owner.and_then(|owner| self.owned(table, owner));
        let given = Some(condition).filter(|condition| !condition.is_empty()).map(|condition| format!("({condition})"));
        let all: Vec<String> = own.into_iter().chain(given).collect();
        if all.is_empty() { String::new() } else { format!("WHERE {}", all.join(" AND ")) }
    }
}

impl Database {
    /// Which rows of a table are those of a process, where they tell.
    fn owned(&self, table: &TableShape, owner: Owner) -> Option<String> {
        let is_track = self.partition.table("track").is_some_and(|track| track.name == table.name);
        if table.has("pid") && !is_track {
            return Some(format!("pid = {}", owner.row));
        }
        let track = self.partition.table("track").filter(|track| table.has("track_id") && track.has("pid"))?;
        // Tracks of schema 4.1.0 name the process by its own id.
        let row = owner.row;
        let pids = if is_track_based(&self.partition) { format!("{row}, {}", owner.pid) } else { row.to_string() };
        let condition = format!(
            include_str!("sql/on_tracks_of.sql"),
            track = quoted(&track.name),
            pids = pids,
            first = owner.first
        );
        Some(condition.trim_end().to_owned())
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
