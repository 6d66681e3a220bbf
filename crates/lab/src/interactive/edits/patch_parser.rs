//! Reads unified diffs of git and diff.

use super::error::{EditError, shown};
use super::hunks::Hunk;
use super::names::{both_names, name_at_start, without_prefixes};

#[derive(Debug, Default)]
pub(super) struct FilePatch {
    /// `None` if the file is created.
    pub old: Option<String>,
    /// `None` if the file is deleted.
    pub new: Option<String>,
    /// Whether the file is deleted if it ends up empty: the timestamp of its new name is the epoch.
    pub is_deleted_if_empty: bool,
    /// Whether git wrote the diff. Names of other programs may have other prefixes.
    pub is_from_git: bool,
    /// Whether git reports a rename. Without that, names that differ come from other programs, or are cut.
    pub is_renamed: bool,
    /// Permissions of a new file.
    pub mode: Option<u32>,
    pub hunks: Vec<Hunk>,
}

/// The content of the lines after `diff --git`.
#[derive(Default)]
struct Header {
    names: Option<(String, String)>,
    is_new: bool,
    is_deleted: bool,
    mode: Option<u32>,
    renamed_from: Option<String>,
    renamed_to: Option<String>,
}

pub(super) struct PatchParser<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> PatchParser<'a> {
    pub(super) fn new(patch: &'a str) -> Self {
        let mut lines: Vec<&str> = patch.split('\n').collect();
        let first = (0..lines.len()).find(|at| starts_file(&lines, *at));
        // Headers end in CR only if a CR was added to all lines in transfer.
        if first.and_then(|at| lines.get(at)).is_some_and(|line| line.ends_with('\r')) {
            lines.iter_mut().for_each(|line| *line = line.strip_suffix('\r').unwrap_or(line));
        }
        Self { lines, at: 0 }
    }

    pub(super) fn files(mut self) -> Result<Vec<FilePatch>, EditError> {
        let mut files = Vec::new();
        while let Some(line) = self.line() {
            if let Some(names) = line.strip_prefix("diff --git ") {
                self.at += 1;
                let header = self.header(names)?;
                files.extend(self.file(Some(header))?);
            } else if starts_file(&self.lines, self.at) {
                files.extend(self.file(None)?);
            } else if line.starts_with("@@ -") {
                return Err(self.failed("hunk has no file header"));
            } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
                return Err(self.failed("binary files cannot be edited"));
            } else {
                self.at += 1;
            }
        }
        Ok(files)
    }

    fn line(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn failed(&self, reason: &str) -> EditError {
        EditError::Patch { line: self.at + 1, reason: reason.to_owned() }
    }

    fn header(&mut self, names: &str) -> Result<Header, EditError> {
        let mut header = Header { names: both_names(names), ..Header::default() };
        let short = header.names.as_ref().and_then(|(old, new)| without_prefixes(Some(old), Some(new), None).1);
        let name = short.unwrap_or(names).to_owned();
        let refused = |what, advice| EditError::Unsupported { path: shown(name.as_ref()), what, advice };
        while let Some(line) = self.line() {
            let named = |start: &str| line.strip_prefix(start).and_then(name_at_start).map(|(name, _)| name);
            if let Some(mode) = line.strip_prefix("new file mode ") {
                header.is_new = true;
                header.mode = match mode {
                    "100644" => None,
                    "100755" => Some(0o755),
                    _ => return Err(refused("creates a link or a submodule", "create it by hand")),
                };
            } else if let Some(mode) = line.strip_prefix("deleted file mode ") {
                header.is_deleted = true;
                if !mode.starts_with("100") {
                    return Err(refused("deletes a link or a submodule", "delete it by hand"));
                }
            } else if line.starts_with("old mode ") || line.starts_with("new mode ") {
                return Err(refused("changes permissions", "change them by hand, and leave them out of the patch"));
            } else if line.starts_with("index ") && (line.ends_with(" 120000") || line.ends_with(" 160000")) {
                return Err(refused("changes a link or a submodule", "leave it out of the patch"));
            } else if line.starts_with("copy ") {
                return Err(refused("copies a file", "make the patch with `git diff --no-renames`"));
            } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
                return Err(refused("changes a binary file", "leave the file out of the patch"));
            } else if let Some(name) = named("rename from ") {
                header.renamed_from = Some(name);
            } else if let Some(name) = named("rename to ") {
                header.renamed_to = Some(name);
            } else if !["index ", "similarity index ", "dissimilarity index "].iter().any(|word| line.starts_with(word))
            {
                break;
            }
            self.at += 1;
        }
        Ok(header)
    }

    /// The change after a header, if there is one.
    fn file(&mut self, header: Option<Header>) -> Result<Option<FilePatch>, EditError> {
        let mut file = FilePatch { is_from_git: header.is_some(), ..FilePatch::default() };
        let header = header.unwrap_or_default();
        let (mut old, mut new) = match &header.names {
            Some((old, new)) => (Some(old.clone()), Some(new.clone())),
            None => (None, None),
        };
        let has_names = has_names(&self.lines, self.at);
        if header.renamed_from.is_some() != header.renamed_to.is_some() {
            return Err(self.failed("half of a rename is missing"));
        }
        if has_names {
            old = self.name("--- ")?.0;
            let (name, time) = self.name("+++ ")?;
            new = name;
            file.is_deleted_if_empty =
                time.trim_start().starts_with("1970-01-01") || time.trim_start().starts_with("1969-12-31");
        } else if header.is_new || header.is_deleted {
            if old.is_none() {
                return Err(self.failed("the names of the file cannot be read"));
            }
        } else if header.renamed_to.is_none() {
            return Ok(None);
        }
        if header.is_new {
            old = None;
        }
        if header.is_deleted {
            new = None;
        }
        let (short_old, short_new) = without_prefixes(old.as_deref(), new.as_deref(), header.names.as_ref());
        file.is_renamed = header.renamed_to.is_some();
        file.old = header.renamed_from.or_else(|| short_old.map(str::to_owned));
        file.new = header.renamed_to.or_else(|| short_new.map(str::to_owned));
        file.mode = header.mode;
        while self.line().is_some_and(|line| line.starts_with("@@ -")) {
            file.hunks.push(self.hunk()?);
        }
        if has_names && file.hunks.is_empty() {
            return Err(self.failed("the names of a file without a hunk"));
        }
        Ok(Some(file))
    }

    /// The name in a line with this start, and the timestamp after it.
    fn name(&mut self, start: &str) -> Result<(Option<String>, &'a str), EditError> {
        let text = self.line().and_then(|line| line.strip_prefix(start)).unwrap_or_default();
        let Some((name, time)) = name_at_start(text) else {
            return Err(self.failed("the name of the file cannot be read"));
        };
        self.at += 1;
        Ok(((name != "/dev/null").then_some(name), time))
    }

    fn hunk(&mut self) -> Result<Hunk, EditError> {
        let header = self.line().unwrap_or_default();
        let Some(((start, mut old), (_, mut new))) = ranges(header) else {
            return Err(self.failed("the header of a hunk cannot be read"));
        };
        // An empty range comes after the line of its number; any other range starts with that line.
        let mut hunk = Hunk { start: if old == 0 { start } else { start.saturating_sub(1) }, ..Hunk::default() };
        self.at += 1;
        let mut last = ' ';
        while old > 0 || new > 0 {
            let Some(line) = self.line() else { return Err(self.failed("the patch ends in the middle of a hunk")) };
            let mut signs = line.chars();
            // Some programs strip spaces at line ends.
            let sign = signs.next().unwrap_or(' ');
            let (of_old, of_new) = match sign {
                ' ' => (1, 1),
                '-' => (1, 0),
                '+' => (0, 1),
                '\\' => {
                    hunk.without_line_end(last);
                    self.at += 1;
                    continue;
                }
                _ => return Err(self.failed("a hunk has fewer lines than its header says")),
            };
            // An incomplete line is a cut one.
            if self.at + 1 == self.lines.len() {
                return Err(self.failed("the patch ends in the middle of a hunk"));
            }
            let (Some(left_old), Some(left_new)) = (old.checked_sub(of_old), new.checked_sub(of_new)) else {
                return Err(self.failed("a hunk has other lines than its header says"));
            };
            (old, new) = (left_old, left_new);
            hunk.push(sign, signs.as_str());
            last = sign;
            self.at += 1;
        }
        if self.line().is_some_and(|line| line.starts_with('\\')) {
            hunk.without_line_end(last);
            self.at += 1;
        }
        let is_more = |line: &str| line.starts_with(['+', '-', ' ', '@']) && line.trim_end() != "--";
        let is_next = starts_file(&self.lines, self.at) || self.line().is_some_and(|line| line.starts_with("@@ -"));
        if self.line().is_some_and(is_more) && !is_next {
            return Err(self.failed("a hunk has more lines than its header says"));
        }
        Ok(hunk)
    }
}

/// Returns whether a new file starts at this line.
fn starts_file(lines: &[&str], at: usize) -> bool {
    lines.get(at).is_some_and(|line| line.starts_with("diff --git ")) || has_names(lines, at)
}

/// Returns whether the old and the new name of a file are at this line.
fn has_names(lines: &[&str], at: usize) -> bool {
    let starts = |at: usize, start: &str| lines.get(at).is_some_and(|line| line.starts_with(start));
    starts(at, "--- ") && starts(at + 1, "+++ ")
}

/// The numbers in a hunk header: first line and number of lines, of the old text and of the new.
fn ranges(header: &str) -> Option<((usize, usize), (usize, usize))> {
    let (old, rest) = header.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| {
        let (start, lines) = text.split_once(',').unwrap_or((text, "1"));
        let number = |digits: &str| digits.parse::<u32>().ok().and_then(|number| usize::try_from(number).ok());
        Some((number(start)?, number(lines)?))
    };
    Some((range(old)?, range(new)?))
}
