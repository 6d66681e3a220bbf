//! Rows of a source table of one process in pieces, so that memory does not grow with their number. The next piece is read while one is
//! visited.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::{Context, Result, anyhow};
use polars::prelude::DataFrame;
use thiserror::Error;

use super::lazy_trace::{Trace, TraceProcess};
use super::source::ReadContext;
use super::source_rows::damage_of;
use crate::columns::frames::collected;
use crate::columns::reading::Visit;
use crate::columns::requests::Request;
use wavesieve_model::schema::{self, Table};

/// Approximate number of rows of a piece.
const PIECE_ROWS: usize = 1 << 15;
/// Maximum number of threads that read pieces of a table in parallel; each has a few pieces in memory.
const MAX_READERS: usize = 4;

impl Trace {
    /// Passes the rows of a source table of a process to `visit` in pieces, in order. If rows are filtered, or the input cannot be read in
    /// pieces, all rows are in memory before the first call.
    ///
    /// # Errors
    /// When the table is not known or cannot be read, or `visit` fails.
    pub fn visit_rows(
        &self,
        member: &TraceProcess,
        name: &'static str,
        columns: &[&'static str],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let table = schema::table(name).with_context(|| format!("internal: no table {name}"))?;
        let wanted = columns.iter().copied().collect();
        if self.chooses_in(member) {
            return self.visit_whole(member, table, columns, visit);
        }
        if let Some(ranges) = member.source.row_ranges(&self.context(member), table, PIECE_ROWS)
            && ranges.len() > 1
        {
            return ahead(self.threads.clamp(1, MAX_READERS), visit, |reader, readers, sender| {
                for rows in ranges.iter().skip(reader).step_by(readers) {
                    let context = ReadContext { rows: Some(*rows), threads: 1, ..self.context(member) };
                    let piece = self.read_in(&context, member, table, &wanted);
                    give(sender, piece.and_then(|rows| Ok(collected(&rows.frame)?)))?;
                }
                Ok(())
            });
        }
        match self.pieces(member, table, &wanted)? {
            Some(pieces) => ahead(1, visit, |_, _, sender| {
                for piece in &pieces {
                    match piece.read(&mut |frame| give(sender, Ok(frame.clone()))) {
                        Err(error) if !error.is::<NobodyListens>() => {
                            self.report_damage([damage_of(member, table.name, &error)]);
                        }
                        read => read?,
                    }
                }
                Ok(())
            }),
            None => self.visit_whole(member, table, columns, visit),
        }
    }

    fn visit_whole(
        &self,
        member: &TraceProcess,
        table: &'static Table,
        columns: &[&'static str],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let request = Request::from([(table.name, columns.iter().copied().collect())]);
        let frames = self.process_frames(member, &request)?;
        let frame = frames.get(table.name).with_context(|| format!("internal: {} was not read", table.name))?;
        let frame = collected(frame)?;
        for first in (0..frame.height()).step_by(PIECE_ROWS) {
            visit(&frame.slice(first as i64, PIECE_ROWS))?;
        }
        Ok(())
    }
}

/// Visits pieces while other threads read the next ones in turn. `read` gets the number of its reader and the number of readers.
fn ahead(
    readers: usize,
    visit: &mut Visit<'_>,
    read: impl Fn(usize, usize, &SyncSender<DataFrame>) -> Result<()> + Sync,
) -> Result<()> {
    thread::scope(|scope| {
        let read = &read;
        let start = |reader| {
            let (sender, receiver) = sync_channel(1);
            (receiver, scope.spawn(move || read(reader, readers, &sender)))
        };
        let (receivers, threads): (Vec<Receiver<DataFrame>>, Vec<_>) = (0..readers).map(start).unzip();
        // Readers take turns, so the first one without a piece marks the end, or has failed.
        let pieces = receivers.iter().cycle().map_while(|receiver| receiver.recv().ok());
        let visited = pieces.map(|piece| visit(&piece)).find(Result::is_err).unwrap_or(Ok(()));
        // Without receivers the readers end.
        drop(receivers);
        let mut failed = Ok(());
        for reader in threads {
            let read = reader.join().map_err(|_| anyhow!("internal: a reader of rows failed"))?;
            if !read.as_ref().is_err_and(|error| error.is::<NobodyListens>()) {
                failed = failed.and(read);
            }
        }
        visited.and(failed)
    })
}

/// The reason for a reader to end early.
#[derive(Debug, Error)]
#[error("internal: nobody takes the rows")]
struct NobodyListens;

fn give(sender: &SyncSender<DataFrame>, piece: Result<DataFrame>) -> Result<()> {
    Ok(sender.send(piece?).map_err(|_| NobodyListens)?)
}
