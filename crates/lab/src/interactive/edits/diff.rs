//! Edits as readable diffs.

use std::fmt::Write as _;
use std::ops::Range;

use similar::DiffOp;

use super::edit::{Edit, FileEdit};
use super::error::shown;
use super::line_diff::LineDiff;
use super::names::quoted;

impl Edit {
    /// A unified diff with three lines of context in the form of git; `git apply` and `Edit::from_patch` accept it.
    pub fn diff(&self) -> String {
        let mut out = String::new();
        self.files.iter().for_each(|file| write_file(&mut out, file));
        out
    }

    /// Added and removed lines by file: `kernel.hip: +3 -2, b.hip: +1`.
    pub fn summary(&self) -> String {
        self.files.iter().map(summary_of).collect::<Vec<_>>().join(", ")
    }
}

fn summary_of(file: &FileEdit) -> String {
    let diff = LineDiff::new(file.before.as_deref().unwrap_or_default(), file.after.as_deref().unwrap_or_default());
    let counts = match (diff.counts(), &file.before) {
        ((0, 0), None) => "new".to_owned(),
        ((0, 0), Some(_)) => "deleted".to_owned(),
        ((added, 0), _) => format!("+{added}"),
        ((0, removed), _) => format!("-{removed}"),
        ((added, removed), _) => format!("+{added} -{removed}"),
    };
    format!("{}: {counts}", shown(&file.path))
}

fn write_file(out: &mut String, file: &FileEdit) {
    let name = file.path.to_string_lossy();
    let (old, new) = (quoted(&format!("a/{name}")), quoted(&format!("b/{name}")));
    let is_executable = file.mode.is_some_and(|mode| mode & 0o100 != 0);
    let mode = if is_executable { "100755" } else { "100644" };
    let _ = writeln!(out, "diff --git {old} {new}");
    match (&file.before, &file.after) {
        (None, _) => drop(writeln!(out, "new file mode {mode}")),
        (_, None) => drop(writeln!(out, "deleted file mode {mode}")),
        _ => {}
    }
    let diff = LineDiff::new(file.before.as_deref().unwrap_or_default(), file.after.as_deref().unwrap_or_default());
    let hunks = diff.hunks();
    if hunks.is_empty() {
        return;
    }
    // Without the tab, a reader would cut a name with spaces at the first of them.
    let tab = if name.contains(' ') { "\t" } else { "" };
    let side = |text: &Option<String>, name: String| text.as_ref().map_or("/dev/null".to_owned(), |_| name + tab);
    let _ = writeln!(out, "--- {}\n+++ {}", side(&file.before, old), side(&file.after, new));
    for hunk in hunks {
        write_hunk(out, &diff, &hunk);
    }
}

fn write_hunk(out: &mut String, diff: &LineDiff<'_>, operations: &[DiffOp]) {
    let (Some(first), Some(last)) = (operations.first(), operations.last()) else { return };
    let old = first.old_range().start..last.old_range().end;
    let new = first.new_range().start..last.new_range().end;
    let _ = writeln!(out, "@@ -{} +{} @@", position(&old), position(&new));
    for operation in operations {
        let (old, new) = (operation.old_range(), operation.new_range());
        if matches!(operation, DiffOp::Equal { .. }) {
            write_lines(out, ' ', diff.old.get(old));
        } else {
            write_lines(out, '-', diff.old.get(old));
            write_lines(out, '+', diff.new.get(new));
        }
    }
}

/// A line range in the form of hunk headers: an empty range comes after the line of its number.
fn position(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        len => format!("{},{len}", lines.start + 1),
    }
}

fn write_lines(out: &mut String, sign: char, lines: Option<&[&str]>) {
    for line in lines.unwrap_or_default() {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}
