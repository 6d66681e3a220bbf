//! Lists the leaves of a table from its root, in the order of the row ids.

use super::bytes::{u16_at, u32_at, varint};
use super::cell::cell;
use super::fault::{Fault, UnreadablePage};
use super::format::{FILE_HEADER_BYTES, Pages};

const INTERIOR: u8 = 5;
const LEAF: u8 = 13;
/// Maximum depth; SQLite has the same limit.
const DEEPEST: usize = 20;

/// A leaf page, or what should be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Number of the page, from 1.
    pub page: u32,
    /// Number of its rows; 0 before [`measure`].
    pub rows: u16,
    /// All row ids are greater than this; `None` for the first leaf.
    pub above: Option<i64>,
    /// No row id is greater than this; `None` for the last leaf.
    pub up_to: Option<i64>,
}

/// The leaves of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// Leaves by the pages above them; [`measure`] checks that they are leaves.
    pub leaves: Vec<Leaf>,
    /// Pages above the leaves that cannot be read, which hide everything below them.
    pub lost: Vec<UnreadablePage>,
}

/// The level of a page in the tree of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Interior,
    Leaf,
}

/// Lists the leaves of the table whose root is `root`. The leaves are not read, except a root and the first leaf below each interior page.
pub fn walk(pages: Pages<'_>, root: u32) -> Tree {
    let mut walk = Walk { pages, seen: vec![false; pages.count() + 1], tree: Tree::default() };
    match level(pages, root) {
        Ok(Level::Leaf) => walk.tree.leaves.push(Leaf { page: root, rows: 0, above: None, up_to: None }),
        Ok(Level::Interior) => walk.descend(root, None, None, 0),
        Err(fault) => walk.tree.lost.push(UnreadablePage { page: root, fault }),
    }
    walk.tree
}

struct Walk<'a> {
    pages: Pages<'a>,
    seen: Vec<bool>,
    tree: Tree,
}

impl Walk<'_> {
    /// Visits an interior page whose row ids are greater than `above` and at most `up_to`.
    fn descend(&mut self, page: u32, above: Option<i64>, up_to: Option<i64>, depth: usize) {
        if let Err(fault) = self.enter(page, depth) {
            self.tree.lost.push(UnreadablePage { page, fault });
            return;
        }
        let Some(children) = children(self.pages, page, above, up_to) else {
            self.tree.lost.push(UnreadablePage { page, fault: Fault::CellOutside });
            return;
        };
        self.tree.lost.extend(children.fault.map(|fault| UnreadablePage { page, fault }));
        // All leaves of a table are at the same depth.
        let below = children.list.iter().find_map(|(child, _, _)| level(self.pages, *child).ok());
        for (child, above, up_to) in children.list {
            match below {
                Some(Level::Leaf) => match self.enter(child, depth + 1) {
                    Ok(()) => self.tree.leaves.push(Leaf { page: child, rows: 0, above, up_to }),
                    Err(fault) => self.tree.lost.push(UnreadablePage { page: child, fault }),
                },
                Some(Level::Interior) => match level(self.pages, child) {
                    Ok(Level::Interior) => self.descend(child, above, up_to, depth + 1),
                    Ok(Level::Leaf) => self.tree.lost.push(UnreadablePage { page: child, fault: Fault::NotOfTable }),
                    Err(fault) => self.tree.lost.push(UnreadablePage { page: child, fault }),
                },
                None => {
                    let fault = level(self.pages, child).err().unwrap_or(Fault::NotOfTable);
                    self.tree.lost.push(UnreadablePage { page: child, fault });
                }
            }
        }
    }

    /// Marks a page as read.
    fn enter(&mut self, page: u32, depth: usize) -> Result<(), Fault> {
        if depth > DEEPEST {
            return Err(Fault::TooDeep);
        }
        match self.seen.get_mut(page as usize) {
            None => Err(Fault::BehindEnd),
            Some(true) => Err(Fault::UsedTwice),
            Some(seen) => {
                *seen = true;
                Ok(())
            }
        }
    }
}

struct Children {
    /// Pages with the bounds of their row ids.
    list: Vec<(u32, Option<i64>, Option<i64>)>,
    /// The reason why some are missing.
    fault: Option<Fault>,
}

/// The children of an interior page; `None` if it has no header.
fn children(pages: Pages<'_>, page: u32, above: Option<i64>, up_to: Option<i64>) -> Option<Children> {
    let bytes = pages.page(page)?;
    let header = header_at(page);
    let cells = usize::from(u16_at(bytes, header + 3)?);
    let last = u32_at(bytes, header + 8)?;
    let mut children = Children { list: Vec::with_capacity(cells + 1), fault: None };
    let mut lower = above;
    for cell in 0..cells {
        let found = u16_at(bytes, header + 12 + 2 * cell).and_then(|at| {
            let at = usize::from(at);
            Some((u32_at(bytes, at)?, varint(bytes, at + 4)?.0 as i64))
        });
        let Some((child, key)) = found else {
            children.fault = children.fault.or(Some(Fault::CellOutside));
            continue;
        };
        // Row ids of deleted rows may remain as bounds, so that two bounds may be equal.
        if lower.is_some_and(|lower| key < lower) || up_to.is_some_and(|up_to| key > up_to) {
            children.fault = children.fault.or(Some(Fault::OutOfOrder));
            continue;
        }
        children.list.push((child, lower, Some(key)));
        lower = Some(key);
    }
    children.list.push((last, lower, up_to));
    Some(children)
}

/// The last row id of a table, in the last cell of its last leaf; `None` if the table is empty or cannot be read.
pub(crate) fn last_row_id(pages: Pages<'_>, root: u32) -> Option<i64> {
    let mut page = root;
    for _ in 0..=DEEPEST {
        match level(pages, page).ok()? {
            Level::Interior => page = u32_at(pages.page(page)?, header_at(page) + 8)?,
            Level::Leaf => {
                let rows = rows(pages, page)?;
                let leaf = Leaf { page, rows, above: None, up_to: None };
                let last = usize::from(rows.checked_sub(1)?);
                return cell(pages, &leaf, pages.range(page)?, last).ok().map(|cell| cell.id);
            }
        }
    }
    None
}

/// Offset of the header in a page.
pub(crate) fn header_at(page: u32) -> usize {
    if page == 1 { FILE_HEADER_BYTES } else { 0 }
}

fn level(pages: Pages<'_>, page: u32) -> Result<Level, Fault> {
    let bytes = pages.page(page).ok_or(Fault::BehindEnd)?;
    match bytes.get(header_at(page)) {
        Some(&INTERIOR) => Ok(Level::Interior),
        Some(&LEAF) => Ok(Level::Leaf),
        _ => Err(Fault::NotOfTable),
    }
}

/// Sets the number of rows of each leaf. Returns pages that are not readable leaves; they keep 0 rows.
pub fn measure(pages: Pages<'_>, leaves: &mut [Leaf]) -> Vec<UnreadablePage> {
    let mut lost = Vec::new();
    for leaf in leaves {
        let found = level(pages, leaf.page).and_then(|level| match level {
            Level::Leaf => rows(pages, leaf.page).ok_or(Fault::CellOutside),
            Level::Interior => Err(Fault::NotOfTable),
        });
        match found {
            Ok(0) if leaf.above.is_some() || leaf.up_to.is_some() => {
                lost.push(UnreadablePage { page: leaf.page, fault: Fault::NoRows });
            }
            Ok(rows) => leaf.rows = rows,
            Err(fault) => lost.push(UnreadablePage { page: leaf.page, fault }),
        }
    }
    lost
}

/// Number of cells of a leaf, if the page contains the whole list of cells. For a cut page, the number of listed cells that remain.
fn rows(pages: Pages<'_>, page: u32) -> Option<u16> {
    let bytes = pages.page(page)?;
    let header = header_at(page);
    let rows = u16_at(bytes, header + 3)?;
    let room = bytes.len().saturating_sub(header + 8) / 2;
    let is_cut = bytes.len() < pages.format.usable_bytes;
    if is_cut {
        u16::try_from(room).map_or(Some(rows), |room| Some(rows.min(room)))
    } else {
        (usize::from(rows) <= room).then_some(rows)
    }
}
