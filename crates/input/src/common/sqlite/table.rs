//! Reads columns of a table, in bulk if possible and otherwise carefully.

use anyhow::Result;

use super::column::{ColumnKind, Columns, Wanted};
use super::condition::Condition;
use super::database::{TableShape, exists, open, quoted};
use super::store::Store;
use super::uri::read_only_uri;
use super::{bulk, careful};
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_model::text::causes::with_causes;
use wavesieve_tables::columns::reading::RowRange;

/// Tables with fewer row ids are read by one thread, because starting more threads costs more than it saves.
const ROWS_PER_THREAD: i64 = 50_000;
/// Tables with fewer row ids are read without connectorx, because its pool of connections costs more than it saves.
const BULK_ROWS: i64 = 4_096;

/// A selection of rows of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection<'a> {
    pub table: &'a TableShape,
    /// Its integer key, which orders rows and divides them among threads. It is read as `id`.
    pub key: &'a str,
    /// The condition on its rows.
    pub condition: &'a Condition,
}

/// Reads the key and the `wanted` columns; columns that the table lacks stay absent.
pub fn read(store: &Store, selection: Selection<'_>, wanted: &[Wanted], threads: usize) -> Result<Columns> {
    let Selection { table, key, .. } = selection;
    let present: Vec<Wanted> = wanted.iter().copied().filter(|wanted| table.has(wanted.name)).collect();
    // An empty table does not need a condition.
    let all = Condition::all();
    let selection = if is_empty(store, selection) { Selection { condition: &all, ..selection } } else { selection };
    if let Some(columns) = store.pages().and_then(|pages| pages.read(selection, &present, threads).ok()) {
        return Ok(columns);
    }
    let connection = open(store.path())?;
    let sql = select(selection, &present, "");
    // A damaged page can hide the extremes. Then only the careful reader can read the table.
    let extremes = format!(include_str!("sql/extremes.sql"), key = quoted(key), table = quoted(&table.name));
    let extremes = connection
        .query_row(&extremes, [], |row| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?)))
        .ok();
    if let Some((Some(first), Some(last))) = extremes
        && last.saturating_sub(first) >= BULK_ROWS
        && present.iter().all(|wanted| declared_as_wanted(table, *wanted))
    {
        let queries = partitioned(selection, &present, first, last, threads);
        if let Ok(columns) = bulk::read(&read_only_uri(store.path())?, &queries, &present) {
            return Ok(columns);
        }
    }
    Ok(careful::read(&connection, &sql, &present))
}

/// Ranges of row ids that together cover a table, in order, with about `rows` rows each. `None` if they cannot be read one by one without
/// reading more.
pub fn row_ranges(store: &Store, selection: Selection<'_>, rows: usize) -> Option<Vec<RowRange>> {
    store.pages()?.row_ranges(selection, rows)
}

/// Number of rows. For a damaged table, the number of readable rows and the cause of the damage.
pub fn count(store: &Store, selection: Selection<'_>, threads: usize) -> Result<(u64, Option<String>)> {
    if is_empty(store, selection) {
        return Ok((0, None));
    }
    if let Some(counted) = store.pages().and_then(|pages| pages.count(selection, threads).ok()) {
        return Ok(counted);
    }
    let connection = open(store.path())?;
    let condition = clause(&selection.condition.to_sql(), "");
    let sql = format!(include_str!("sql/count.sql"), table = quoted(&selection.table.name), condition = condition);
    if let Ok(count) = connection.query_row(&sql, [], |row| row.get::<_, i64>(0)) {
        return Ok((count.try_into().unwrap_or(0), None));
    }
    let columns = careful::read(&connection, &select(selection, &[], ""), &[]);
    Ok((columns.height as u64, columns.damage))
}

/// The damage to the pages of a table and, if `closely`, to its rows.
pub fn verify(store: &Store, table: &TableShape, closely: bool, threads: usize) -> Option<String> {
    if let Some(found) = store.pages().and_then(|pages| pages.verify(table, closely, threads).ok()) {
        return found;
    }
    let sql = format!(include_str!("sql/every_row.sql"), table = quoted(&table.name));
    match open(store.path()) {
        Ok(connection) => careful::read(&connection, &sql, &[]).damage,
        Err(error) => Some(with_causes(&error)),
    }
}

/// The damage to tables of a file, by their names; see [`verify`].
pub(crate) fn damage_of_tables<'a>(
    store: &Store,
    tables: impl Iterator<Item = &'a TableShape>,
    closely: bool,
    shown: &str,
) -> Vec<Damage> {
    let threads = rayon::current_num_threads();
    let damage = |table: &TableShape| {
        let cause = verify(store, table, closely, threads)?;
        Some(Damage { path: shown.to_owned(), part: table.name.clone(), cause })
    };
    tables.filter_map(damage).collect()
}

/// Damage to the first page of a table, the only page of a small one.
pub(crate) fn damage_of_root(store: &Store, table: &TableShape) -> Option<String> {
    store.pages()?.damage_of_root(&table.name, table.layout.as_deref()?)
}

/// Whether the pages prove that a table has no rows.
fn is_empty(store: &Store, selection: Selection<'_>) -> bool {
    store.pages().is_some_and(|pages| pages.has_rows(selection) == Some(false))
}

/// Whether any row is selected. Damage before the first such row ends the search.
pub fn has_any(store: &Store, selection: Selection<'_>) -> bool {
    match store.pages().and_then(|pages| pages.has_rows(selection)) {
        Some(false) => return false,
        Some(true) if selection.condition.tests().is_some_and(<[_]>::is_empty) => return true,
        _ => {}
    }
    let condition = clause(&selection.condition.to_sql(), "");
    open(store.path()).is_ok_and(|connection| exists(&connection, selection.table, &condition))
}

fn declared_as_wanted(table: &TableShape, wanted: Wanted) -> bool {
    let declared = table.columns.get(wanted.name).map_or("", String::as_str);
    match wanted.kind {
        ColumnKind::Integer => declared.contains("INT") && !matches!(declared, "INT4" | "INT2"),
        ColumnKind::Real => declared.contains("REAL") || declared.contains("FLOA") || declared.contains("DOUB"),
        ColumnKind::Text => declared.contains("TEXT") || declared.contains("CHAR"),
    }
}

fn clause(condition: &str, range: &str) -> String {
    match (condition.is_empty(), range.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!("WHERE {range}"),
        (false, true) => format!("WHERE {condition}"),
        (false, false) => format!("WHERE ({condition}) AND {range}"),
    }
}

fn select(selection: Selection<'_>, wanted: &[Wanted], range: &str) -> String {
    let columns: String = wanted.iter().map(|wanted| format!(", {}", quoted(wanted.name))).collect();
    format!(
        include_str!("sql/columns.sql"),
        key = quoted(selection.key),
        columns = columns,
        table = quoted(&selection.table.name),
        condition = clause(&selection.condition.to_sql(), range)
    )
}

fn partitioned(selection: Selection<'_>, wanted: &[Wanted], first: i64, last: i64, threads: usize) -> Vec<String> {
    // The ids of a damaged or foreign file may be any integers, so that their spread may not fit into 64 bits.
    let (first, last) = (i128::from(first), i128::from(last));
    let rows = last - first + 1;
    let parts = (rows / i128::from(ROWS_PER_THREAD)).clamp(1, threads.max(1) as i128);
    let size = rows / parts + 1;
    (0..parts)
        .map(|part| {
            let from = first + part * size;
            let to = (from + size - 1).min(last);
            select(selection, wanted, &format!("{} BETWEEN {from} AND {to}", quoted(selection.key)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_ids_that_lie_anywhere() {
        let table = TableShape { name: "t".to_owned(), ..TableShape::default() };
        let selection = Selection { table: &table, key: "id", condition: &Condition::all() };
        let queries = partitioned(selection, &[], i64::MIN, i64::MAX, 2);
        assert_eq!(queries.len(), 2);
        assert!(queries[0].contains(&format!("BETWEEN {} AND 0", i64::MIN)), "{}", queries[0]);
        assert!(queries[1].contains(&format!("BETWEEN 1 AND {}", i64::MAX)), "{}", queries[1]);
    }
}
