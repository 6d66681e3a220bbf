//! Calls and ranges that enclose launching calls on their thread, recorded as parents or not.

use anyhow::Result;
use rusqlite::Connection;

use super::structure::SourceTable;
use crate::input::quoted;

/// A call that has not ended.
struct Open {
    id: i64,
    end: i64,
    is_kept: bool,
}

/// Notes the regions that enclose a launching one in a temporary table.
///
/// # Errors
/// When the regions cannot be read.
pub(super) fn keep_enclosing(connection: &Connection, table: &SourceTable) -> Result<()> {
    if !table.has_all(&["id", "pid", "tid", "start", "end", "event_id"]) {
        return Ok(());
    }
    let sql = format!(include_str!("sql/regions_by_thread.sql"), table = quoted(&table.name));
    let mut insert = connection.prepare(include_str!("sql/enclosing.sql").trim_end())?;
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
            for enclosing in open.iter_mut().rev().filter(|one| one.end >= end) {
                if enclosing.is_kept {
                    continue;
                }
                enclosing.is_kept = true;
                insert.execute([enclosing.id])?;
            }
        }
        open.push(Open { id, end, is_kept: false });
    }
    Ok(())
}
