//! Source lines of instructions: a row for each file, line and frame of inlined code.

use std::collections::BTreeMap;

use anyhow::Result;
use rusqlite::{Connection, Statement, params};

/// The text between frames of a sample, innermost first.
const SEPARATOR: &str = " -> ";
/// The word for a line that is not known.
const UNKNOWN_LINE: &str = "?";
/// The word for no source at all.
const NO_SOURCE: &str = "N/A";

/// Files and lines that were written.
pub(super) struct Sources<'c> {
    files: BTreeMap<(i64, String), i64>,
    lines: BTreeMap<(i64, Option<i64>), i64>,
    insert_file: Statement<'c>,
    insert_line: Statement<'c>,
    insert_frame: Statement<'c>,
}

impl<'c> Sources<'c> {
    pub(super) fn new(connection: &'c Connection) -> Result<Self> {
        Ok(Self {
            files: BTreeMap::new(),
            lines: BTreeMap::new(),
            insert_file: connection.prepare(include_str!("sql/insert_source_file.sql"))?,
            insert_line: connection.prepare(include_str!("sql/insert_source_line.sql"))?,
            insert_frame: connection.prepare(include_str!("sql/insert_instruction_source_line.sql"))?,
        })
    }

    /// Writes the frames of an instruction, and files and lines that are new.
    pub(super) fn write(&mut self, workload: i64, instruction: i64, source: &str) -> Result<()> {
        for (index, (path, number)) in (0_i64..).zip(frames(source)) {
            let next = self.files.len() as i64 + 1;
            let file = *self.files.entry((workload, path.to_owned())).or_insert(next);
            if file == next {
                self.insert_file.execute(params![file, workload, path])?;
            }
            let next = self.lines.len() as i64 + 1;
            let line = *self.lines.entry((file, number)).or_insert(next);
            if line == next {
                self.insert_line.execute(params![line, file, number])?;
            }
            self.insert_frame.execute(params![instruction, line, index])?;
        }
        Ok(())
    }
}

/// Paths and lines of a text such as `a.h:7 -> b.cpp:12`.
fn frames(source: &str) -> impl Iterator<Item = (&str, Option<i64>)> {
    let source = source.trim();
    let frames = source.split(SEPARATOR).filter(move |_| !source.is_empty() && source != NO_SOURCE);
    frames.map(|frame| match frame.rsplit_once(':') {
        Some((path, UNKNOWN_LINE)) => (path, None),
        Some((path, line)) if line.bytes().all(|byte| byte.is_ascii_digit()) => match line.parse() {
            Ok(number) => (path, Some(number)),
            Err(_) => (frame, None),
        },
        _ => (frame, None),
    })
}

#[cfg(test)]
mod tests {
    use super::frames;

    #[test]
    fn frames_have_a_path_and_a_line_if_it_is_known() {
        for (source, wanted) in [
            ("a.cpp:12", vec![("a.cpp", Some(12))]),
            ("/x/b.h:7 -> /x/a.cpp:12", vec![("/x/b.h", Some(7)), ("/x/a.cpp", Some(12))]),
            ("a.cpp:?", vec![("a.cpp", None)]),
            ("C:/a.cpp", vec![("C:/a.cpp", None)]),
            ("a.cpp:", vec![("a.cpp:", None)]),
            ("std::sort", vec![("std::sort", None)]),
            ("N/A", vec![]),
            (" ", vec![]),
        ] {
            assert_eq!(frames(source).collect::<Vec<_>>(), wanted, "{source}");
        }
    }
}
