//! Calls and ranges that enclose launching calls on their thread, recorded as parents or not.

use anyhow::Result;
use rusqlite::Connection;

use super::id_set::IdSet;
use super::marks::{Mark, Marks};
use super::structure::SourceTable;
use super::trim::STACK;
use wavesieve_input::quoted;

/// A call that has not ended.
struct Open {
    id: i64,
    end: i64,
    is_kept: bool,
}

/// Notes the regions that enclose a launching one. `join` gives the correlation id of a region.
pub(super) fn keep_enclosing(connection: &Connection, table: &SourceTable, join: &str, marks: &Marks) -> Result<()> {
    if !table.has_all(&["id", "pid", "tid", "start", "end", "event_id"]) {
        return Ok(());
    }
    let sql = format!(
        include_str!("sql/regions_by_thread.sql"),
        table = quoted(&table.name),
        join = join,
        launching = Mark::Stack.is_kept(STACK)
    );
    let mut kept = IdSet::default();
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let (mut thread, mut open): (Option<i64>, Vec<Open>) = (None, Vec::new());
    while let Some(row) = rows.next()? {
        let (id, tid): (i64, Option<i64>) = (row.get(0)?, row.get(1)?);
        let (start, end): (Option<i64>, Option<i64>) = (row.get(2)?, row.get(3)?);
        let is_launching: bool = row.get(4)?;
        let (Some(start), Some(end)) = (start, end) else { continue };
        if thread != tid {
            (thread, open) = (tid, Vec::new());
        }
        // A call that ended before this one ends encloses neither it nor those within it.
        while open.last().is_some_and(|last| last.end <= start) {
            open.pop();
        }
        if is_launching {
            for one in open.iter_mut().rev().filter(|one| one.end >= end && !one.is_kept) {
                one.is_kept = true;
                kept.insert(one.id);
            }
        }
        open.push(Open { id, end, is_kept: false });
    }
    marks.with(Mark::Enclosing, |set| *set = kept);
    Ok(())
}
