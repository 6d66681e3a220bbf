//! The blocks of an answer: the lines to replace, by file.

use super::error::EditError;

const SEARCH: &str = "<<<<<<< SEARCH";
const MIDDLE: &str = "=======";
const REPLACE: &str = ">>>>>>> REPLACE";

/// Lines to replace, without their ends.
#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    /// Number of the block in the whole answer, from one.
    pub number: usize,
    pub path: &'a str,
    pub search: Vec<&'a str>,
    pub replace: Vec<&'a str>,
}

enum BlockPart<'a> {
    Outside,
    Search(Block<'a>),
    Replace(Block<'a>),
}

/// Parses all blocks of an answer, in order. The text around them is ignored: words, Markdown fences.
pub(super) fn blocks_of(answer: &str) -> Result<Vec<Block<'_>>, EditError> {
    let (mut found, mut path, mut part) = (Vec::new(), None, BlockPart::Outside);
    let mut is_path_used = true;
    for (number, line) in answer.lines().enumerate() {
        let word = line.trim_end();
        let misplaced =
            |expected| Err(EditError::Marker { line: number + 1, marker: word.trim_start().to_owned(), expected });
        part = match part {
            BlockPart::Outside if word == SEARCH => {
                let number = found.len() + 1;
                let Some(path) = path else { return Err(EditError::NoFile { block: number }) };
                is_path_used = true;
                BlockPart::Search(Block { number, path, ..Block::default() })
            }
            BlockPart::Outside if word.trim_start().starts_with("<<<") => return misplaced("`<<<<<<< SEARCH` alone"),
            BlockPart::Outside if word == REPLACE => return misplaced("`<<<<<<< SEARCH`"),
            BlockPart::Outside => {
                if let Some(named) = file_of(line) {
                    (path, is_path_used) = (Some(named), false);
                }
                BlockPart::Outside
            }
            BlockPart::Search(block) if word == MIDDLE => BlockPart::Replace(block),
            BlockPart::Search(_) if word == SEARCH || word == REPLACE => return misplaced("`=======`"),
            BlockPart::Search(mut block) => {
                block.search.push(line);
                BlockPart::Search(block)
            }
            BlockPart::Replace(block) if word == REPLACE => {
                found.push(block);
                BlockPart::Outside
            }
            BlockPart::Replace(_) if word == SEARCH || word == MIDDLE => return misplaced("`>>>>>>> REPLACE`"),
            BlockPart::Replace(mut block) => {
                block.replace.push(line);
                BlockPart::Replace(block)
            }
        };
    }
    match (part, path) {
        (BlockPart::Search(block) | BlockPart::Replace(block), _) => {
            let place = format!("block {} for {}", block.number, super::error::shown(block.path.as_ref()));
            Err(EditError::Unfinished { place })
        }
        (BlockPart::Outside, Some(path)) if !is_path_used => {
            Err(EditError::Unfinished { place: format!("the edit of `{}`", super::error::shown(path.as_ref())) })
        }
        (BlockPart::Outside, _) if found.is_empty() => Err(EditError::NoBlock),
        (BlockPart::Outside, _) => Ok(found),
    }
}

/// The path in a line `FILE: path`; Markdown signs around it are ignored.
fn file_of(line: &str) -> Option<&str> {
    let is_sign = |sign: char| matches!(sign, '*' | '`' | '#') || sign.is_whitespace();
    Some(line.trim_start_matches(is_sign).strip_prefix("FILE:")?.trim_matches(is_sign))
}
