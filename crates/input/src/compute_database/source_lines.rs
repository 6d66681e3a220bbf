//! Source lines of instructions: since schema 2.1 a row for each frame of the inline stack, before that one text.

use std::collections::BTreeMap;

use anyhow::Result;

use super::reading::Reading;
use crate::common::sqlite::{integer, text};

/// The text that rocprofiler-compute writes between frames, innermost first.
const SEPARATOR: &str = " -> ";
/// Its mark for an unknown line.
const UNKNOWN_LINE: &str = "?";

/// The frames of each instruction as one text, as earlier schemas have it.
pub(super) fn read(reading: &mut Reading<'_>) -> Result<BTreeMap<i64, String>> {
    let rows = reading.read_shared("source_file", &[text("file_path")])?;
    let files: BTreeMap<i64, String> = rows
        .integers("id")
        .iter()
        .zip(rows.texts("file_path").iter())
        .filter_map(|(id, path)| Some((id?, path?.to_owned())))
        .collect();

    let rows = reading.read_shared("source_line", &[integer("source_file_uuid"), integer("line_number")])?;
    let (ids, numbers) = (rows.integers("id"), rows.integers("line_number"));
    let mut lines: BTreeMap<i64, String> = BTreeMap::new();
    for ((id, file), number) in ids.iter().zip(rows.integers("source_file_uuid").iter()).zip(numbers.iter()) {
        let Some((id, path)) = id.zip(file.and_then(|file| files.get(&file))) else { continue };
        let number = number.map_or_else(|| UNKNOWN_LINE.to_owned(), |number| number.to_string());
        lines.insert(id, format!("{path}:{number}"));
    }

    let wanted = ["instruction_uuid", "source_line_uuid", "frame_index"].map(integer);
    let rows = reading.read_shared("instruction_source_line", &wanted)?;
    let [instructions, places, frames] = wanted.map(|wanted| rows.integers(wanted.name));
    // In the order of frames, which may differ from the order of rows.
    let mut stacks: BTreeMap<i64, BTreeMap<(Option<i64>, usize), &str>> = BTreeMap::new();
    for (row, ((instruction, line), frame)) in instructions.iter().zip(places.iter()).zip(frames.iter()).enumerate() {
        let line = line.and_then(|line| lines.get(&line));
        if let Some((instruction, line)) = instruction.zip(line) {
            stacks.entry(instruction).or_default().insert((frame, row), line);
        }
    }
    let joined =
        |stack: BTreeMap<(Option<i64>, usize), &str>| stack.into_values().collect::<Vec<&str>>().join(SEPARATOR);
    Ok(stacks.into_iter().map(|(instruction, stack)| (instruction, joined(stack))).collect())
}
