//! Counts of PC samples by instruction and kernel.

use std::collections::BTreeMap;

use anyhow::Result;
use rusqlite::{Connection, params};

use super::kernels::Kernels;
use super::rows::AnswerRows;
use super::sources::Sources;
use wavesieve_engine::run_sql;
use wavesieve_tables::trace::Trace;

/// A code object: rank, process id, and its id in the process.
type CodeObject = (i64, Option<i64>, Option<i64>);
/// An instruction: offset and kernel. Without a recorded offset, its text and source line distinguish it from others.
type InstructionKey = (Option<i64>, Option<i64>, Option<(Option<String>, Option<String>)>);

/// Counts of samples at an instruction.
#[derive(Default)]
struct Counts {
    instruction: Option<String>,
    comment: Option<String>,
    total: i64,
    issued: i64,
    /// Samples that state whether they were issued.
    stating: i64,
    reasons: BTreeMap<String, i64>,
    types: BTreeMap<String, i64>,
}

/// Counts of one code object.
#[derive(Default)]
struct Object {
    load_base: Option<i64>,
    lines: BTreeMap<InstructionKey, Counts>,
}

/// Writes code objects, instructions, and their samples by stall reason and by type; returns the number of samples.
pub(super) fn write_pc_samples(trace: &Trace, connection: &Connection, kernels: &Kernels) -> Result<i64> {
    let rows = AnswerRows::new(run_sql(trace, include_str!("sql/pc_samples.sql"))?);
    let objects = gathered(&rows, kernels)?;
    let mut insert_object = connection.prepare(include_str!("sql/insert_code_object.sql"))?;
    let mut insert_symbol = connection.prepare(include_str!("sql/insert_kernel_symbol.sql"))?;
    let mut insert_line = connection.prepare(include_str!("sql/insert_instruction.sql"))?;
    let mut insert_state = connection.prepare(include_str!("sql/insert_state.sql"))?;
    let mut insert_reason = connection.prepare(include_str!("sql/insert_stall_reason.sql"))?;
    let mut insert_type = connection.prepare(include_str!("sql/insert_instruction_sample.sql"))?;
    let counts = || objects.values().flat_map(|object| object.lines.values());
    let reasons = words(counts().flat_map(|counts| counts.reasons.keys()), |id, word| {
        connection.execute(include_str!("sql/insert_stall_reason_lookup.sql"), params![id, word])
    })?;
    let types = words(counts().flat_map(|counts| counts.types.keys()), |id, word| {
        connection.execute(include_str!("sql/insert_instruction_sample_lookup.sql"), params![id, word])
    })?;
    let mut sources = Sources::new(connection)?;
    let (mut symbol_id, mut line_id, mut samples) = (0_i64, 0_i64, 0_i64);
    for (object_id, ((rank, pid, code_object_id), object)) in (1_i64..).zip(&objects) {
        insert_object.execute(params![object_id, rank, pid, code_object_id, object.load_base])?;
        // A symbol for each kernel of the code object.
        let mut symbols: BTreeMap<Option<i64>, i64> = BTreeMap::new();
        for ((offset, kernel, _), counts) in &object.lines {
            if !symbols.contains_key(kernel) {
                symbol_id += 1;
                insert_symbol.execute(params![symbol_id, object_id, kernel])?;
                symbols.insert(*kernel, symbol_id);
            }
            line_id += 1;
            insert_line.execute(params![line_id, symbols.get(kernel), offset, counts.instruction])?;
            if let Some(source) = &counts.comment {
                sources.write(*rank, line_id, source)?;
            }
            // Host traps do not state what was issued.
            let issued = (counts.stating > 0).then_some(counts.issued);
            let stalled = issued.map(|issued| counts.stating - issued);
            insert_state.execute(params![line_id, counts.total, issued, stalled])?;
            for (word, count) in &counts.reasons {
                insert_reason.execute(params![line_id, reasons.get(word.as_str()), count])?;
            }
            for (word, count) in &counts.types {
                insert_type.execute(params![line_id, types.get(word.as_str()), count])?;
            }
            samples += counts.total;
        }
    }
    Ok(samples)
}

fn gathered(rows: &AnswerRows, kernels: &Kernels) -> Result<BTreeMap<CodeObject, Object>> {
    let mut objects: BTreeMap<CodeObject, Object> = BTreeMap::new();
    let numbers = ["pid", "code_object_id", "load_base", "code_object_offset", "issued", "samples"];
    let texts = ["instruction", "comment", "stall_reason", "instruction_type"];
    let mut number_columns = Vec::new();
    for name in numbers {
        number_columns.push(rows.integers(name)?);
    }
    let mut text_columns = Vec::new();
    for name in texts {
        text_columns.push(rows.texts(name)?);
    }
    for (row, (rank, kernel)) in kernels.of_rows(rows)?.into_iter().enumerate() {
        let number = |at: usize| number_columns.get(at).and_then(|column| column.get(row).copied().flatten());
        let text = |at: usize| text_columns.get(at).and_then(|column| column.get(row).cloned().flatten());
        let pid = number(0).filter(|pid| *pid >= 0);
        let object = objects.entry((rank, pid, number(1))).or_default();
        object.load_base = object.load_base.or(number(2));
        let (offset, instruction, comment) = (number(3), text(0), text(1));
        let told_by = offset.is_none().then(|| (instruction.clone(), comment.clone()));
        let counts = object.lines.entry((offset, kernel, told_by)).or_default();
        counts.instruction = counts.instruction.take().or(instruction);
        counts.comment = counts.comment.take().or(comment);
        let samples = number(5).unwrap_or_default();
        counts.total += samples;
        if let Some(issued) = number(4) {
            counts.stating += samples;
            counts.issued += issued * samples;
        }
        for (word, counted) in [(text(2), &mut counts.reasons), (text(3), &mut counts.types)] {
            if let Some(word) = word {
                *counted.entry(word).or_default() += samples;
            }
        }
    }
    Ok(objects)
}

/// Numbers distinct words, and passes each to `insert`.
fn words<'w>(
    words: impl Iterator<Item = &'w String>,
    insert: impl Fn(i64, &str) -> rusqlite::Result<usize>,
) -> Result<BTreeMap<&'w str, i64>> {
    let mut ids = BTreeMap::new();
    for word in words {
        let next = ids.len() as i64 + 1;
        if !ids.contains_key(word.as_str()) {
            insert(next, word)?;
            ids.insert(word.as_str(), next);
        }
    }
    Ok(ids)
}
