//! Handoffs of the rows of an answer, and of findings.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::{IntoColumn, IntoSeries, NewChunkedArray, StringChunked};

use super::commands::{Handoff, HandoffKind, Subject};
use super::dispatch_choice::Dispatches;
use super::row::HandoffRow;
use crate::findings::finding::Finding;
use crate::{Answer, ColumnUnit, NameForm, OutputColumn, Query};
use wavesieve_tables::trace::Trace;

/// Text that joins the commands of a cell.
const THEN: &str = " && ";

/// A request for commands.
pub struct HandoffRequest<'a> {
    /// Words that name the inputs.
    pub inputs: &'a [String],
    /// Form of kernel names in the rows.
    pub name: NameForm,
    /// Number of rows, from the first; 0 for all.
    pub rows: usize,
}

/// Commands for the first rows of an answer.
///
/// # Errors
/// When the dispatches cannot be read.
pub fn handoffs(trace: &Trace, query: &Query, answer: &Answer, request: &HandoffRequest<'_>) -> Result<Vec<Handoff>> {
    let rows = if request.rows == 0 { answer.frame.height() } else { request.rows.min(answer.frame.height()) };
    let (frame, columns) = (answer.frame.head(Some(rows)), answer.columns.clone());
    let answer = Answer { frame, columns, is_readable: answer.is_readable }.with_texts()?;
    // Times in queries with clocks may be on a common axis of several nodes.
    let has_raw_times = !query.declaration.needs.iter().any(|table| table == "clocks");
    let rows: Vec<HandoffRow> = (0..rows).map(|place| HandoffRow::new(&answer, place, has_raw_times)).collect();
    let keys = rows.iter().flat_map(|row| row.keys.iter().map(|(key, _)| *key));
    let mut dispatches = Dispatches::new(trace, request.name, keys);
    let mut made = Vec::new();
    for (row, number) in rows.iter().zip(1..) {
        let dispatch = dispatches.choose(row)?;
        let stem = format!("handoff_{number}");
        made.push(Subject { trace, row, dispatch, name: request.name, inputs: request.inputs, stem }.handoff());
    }
    Ok(made)
}

/// Adds commands to the findings that are about a kernel.
///
/// # Errors
/// When the dispatches cannot be read.
pub fn hand_over_findings(trace: &Trace, findings: &mut [Finding], name: NameForm, inputs: &[String]) -> Result<()> {
    let mut dispatches = Dispatches::new(trace, name, []);
    for (finding, number) in findings.iter_mut().zip(1..) {
        let Some(kernel) = finding.kernel.clone() else { continue };
        let row = HandoffRow { kernel: Some(kernel), ..HandoffRow::default() };
        let dispatch = dispatches.choose(&row)?;
        let stem = format!("handoff_{number}");
        finding.handoff = Some(Subject { trace, row: &row, dispatch, name, inputs, stem }.handoff());
    }
    Ok(())
}

/// The answer with a column for each kind of command; rows beyond the handoffs have no commands.
///
/// # Errors
/// When a column cannot be added.
pub fn with_handoff_columns(mut answer: Answer, made: &[Handoff]) -> Result<Answer> {
    for kind in HandoffKind::ALL {
        let cell = |handoff: &Handoff| {
            let (_, commands) = handoff.kinds.iter().find(|(known, _)| *known == kind)?;
            let lines = commands.as_ref().ok()?.iter().map(|command| command.line());
            Some(lines.collect::<Vec<String>>().join(THEN))
        };
        let cells = made.iter().map(cell).chain(std::iter::repeat_n(None, answer.frame.height() - made.len()));
        let column = StringChunked::from_iter_options(kind.column().into(), cells).into_series().into_column();
        answer.frame.with_column(column)?;
        let doc = format!("commands for the row: {}", kind.title());
        answer.columns.push(OutputColumn { name: kind.column().to_owned(), unit: ColumnUnit::Text, doc });
    }
    Ok(answer)
}

/// The commands that some rows lack, with the reasons.
pub fn missing_commands(made: &[Handoff]) -> Vec<String> {
    let kinds = made.iter().flat_map(|handoff| &handoff.kinds);
    let missing = kinds.filter_map(|(kind, commands)| Some((*kind, commands.as_ref().err()?)));
    let sentences: BTreeSet<String> = missing.map(|(kind, reason)| format!("no {}: {reason}", kind.title())).collect();
    sentences.into_iter().collect()
}
