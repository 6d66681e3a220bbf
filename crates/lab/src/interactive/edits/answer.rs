//! Edits from the answer of a model.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::blocks::{Block, blocks_of};
use super::draft::Draft;
use super::edit::Edit;
use super::error::{EditError, shown};
use super::root::Root;

impl Edit {
    /// Parses the blocks of a model's answer: a line `FILE: path`, then lines between `<<<<<<< SEARCH`, `=======` and
    /// `>>>>>>> REPLACE`. There may be any number of blocks, with or without fences. The search text consists of whole
    /// lines, which must occur exactly once in the file before the edit. Line ends of the file are kept. An empty
    /// search text creates a file. If `allowed` is not empty, only these files may be changed.
    pub(crate) fn from_answer(root: &Path, answer: &str, allowed: &[PathBuf]) -> Result<Self, EditError> {
        let root = Root::open(root)?;
        let mut by_file: BTreeMap<PathBuf, Vec<Block<'_>>> = BTreeMap::new();
        let mut order = Vec::new();
        let may: BTreeSet<PathBuf> = allowed.iter().filter_map(|path| root.resolve(path).ok()).collect();
        for block in blocks_of(answer)? {
            let path = root.resolve(Path::new(block.path))?;
            if !allowed.is_empty() && !may.contains(&path) {
                let allowed = may.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ");
                return Err(EditError::NotAllowed { path: shown(&path), allowed });
            }
            if !order.contains(&path) {
                order.push(path.clone());
            }
            by_file.entry(path).or_default().push(block);
        }
        let mut draft = Draft::new(&root);
        for path in order {
            let blocks = by_file.remove(&path).unwrap_or_default();
            let file = draft.file(&path)?;
            file.after = Some(replaced(&path, file.before.as_deref(), &blocks)?);
        }
        draft.finish()?.ok_or(EditError::NothingChanges)
    }
}

fn replaced(path: &Path, text: Option<&str>, blocks: &[Block<'_>]) -> Result<String, EditError> {
    if let [block] = blocks
        && block.search.is_empty()
        && text.unwrap_or_default().is_empty()
    {
        return Ok(block.replace.iter().flat_map(|line| [*line, "\n"]).collect());
    }
    let Some(text) = text else { return Err(EditError::MissingForAnswer { path: shown(path) }) };
    let lines: Vec<(&str, &str)> = text.split_inclusive('\n').map(divided).collect();
    let mut places = blocks.iter().map(|block| Ok((place_of(path, &lines, block)?, block)));
    let mut places = places.by_ref().collect::<Result<Vec<_>, EditError>>()?;
    places.sort_by_key(|(place, block)| (*place, block.number));
    let usual = if lines.iter().any(|(_, end)| *end == "\r\n") { "\r\n" } else { "\n" };
    let (mut result, mut done, mut last) = (String::with_capacity(text.len()), 0, 0);
    for (place, block) in places {
        let Some(between) = lines.get(done..place) else {
            let (first, second) = (block.number.min(last), block.number.max(last));
            return Err(EditError::Overlap { path: shown(path), first, second });
        };
        result.extend(between.iter().flat_map(|(line, end)| [*line, *end]));
        done = place + block.search.len();
        last = block.number;
        let replaced = lines.get(place..done).unwrap_or_default();
        let end = replaced.iter().map(|(_, end)| *end).find(|end| !end.is_empty()).unwrap_or(usual);
        // If the text has no line end after its last line, none is added.
        let last_end = replaced.last().map_or(end, |(_, end)| *end);
        for (at, line) in block.replace.iter().enumerate() {
            result.push_str(line);
            result.push_str(if at + 1 == block.replace.len() { last_end } else { end });
        }
    }
    result.extend(lines.iter().skip(done).flat_map(|(line, end)| [*line, *end]));
    Ok(result)
}

fn divided(line: &str) -> (&str, &str) {
    for end in ["\r\n", "\n"] {
        if let Some(bare) = line.strip_suffix(end) {
            return (bare, end);
        }
    }
    (line, "")
}

/// The only position of a block's lines.
fn place_of(path: &Path, lines: &[(&str, &str)], block: &Block<'_>) -> Result<usize, EditError> {
    if block.search.is_empty() {
        return Err(EditError::EmptySearch { path: shown(path), block: block.number });
    }
    let places = |is_same: fn(&str, &str) -> bool| {
        let windows = lines.windows(block.search.len()).enumerate();
        let fitting = windows.filter(move |(_, window)| {
            window.iter().zip(&block.search).all(|((line, _), searched)| is_same(line, searched))
        });
        fitting.map(|(place, _)| place).collect::<Vec<_>>()
    };
    let found = places(|line, searched| line == searched);
    if let [place] = found.as_slice() {
        return Ok(*place);
    }
    let numbers = |places: &[usize]| {
        let shown = places.iter().take(5).map(|place| (place + 1).to_string()).collect::<Vec<_>>().join(", ");
        if places.len() > 5 { shown + ", …" } else { shown }
    };
    let near = if found.is_empty() { places(|line, searched| line.trim() == searched.trim()) } else { Vec::new() };
    let (hint, advice) = match (found.as_slice(), near.as_slice()) {
        ([], []) => (String::new(), "copy whole lines of the file exactly"),
        ([], near) => {
            (format!(" (only spaces differ at line {})", numbers(near)), "copy whole lines of the file exactly")
        }
        (found, _) => (format!(" (at lines {})", numbers(found)), "add lines around it until it occurs once"),
    };
    Err(EditError::Search { path: shown(path), block: block.number, times: found.len(), hint, advice })
}
