//! Checks that every page of a file has exactly one owner. Pages that changed places leave pages without any reference.
//!
//! The check only reads the pages above the leaves of tables and indexes, and the first byte of pages without an owner. It costs a small
//! part of reading a table.

use super::bytes::{u16_at, u32_at};
use super::fault::{Fault, UnreadablePage};
use super::format::{FILE_HEADER_BYTES, Pages};
use super::schema::SchemaEntry;
use super::tree::header_at;

/// Kinds of index and table pages: above leaves, and leaves.
const INTERIOR: [u8; 2] = [2, 5];
const LEAF: [u8; 2] = [10, 13];
/// The byte of a file that SQLite locks; its page is never used.
const LOCK_BYTE: usize = 1 << 30;
/// In larger files, a page number can look like the kind of a page.
const MAX_PAGES: usize = 1 << 25;
/// Offsets in the file header of the number of pages, the list of free pages, and the root for vacuuming.
const SIZE: usize = 28;
const FREE: usize = 32;
const VACUUM: usize = 52;

/// Pages of tables and indexes with two owners or none, in the order of their numbers.
pub fn misplaced(pages: Pages<'_>, entries: &[SchemaEntry]) -> Vec<UnreadablePage> {
    let count = pages.count();
    let header = pages.file.get(..FILE_HEADER_BYTES).unwrap_or_default();
    let stated = u32_at(header, SIZE).unwrap_or(0) as usize;
    // Pages missing from a cut file are found when its tables are read.
    if count >= MAX_PAGES || stated > count {
        return Vec::new();
    }
    let mut owned = Owned { pages, owned: vec![false; count + 1], misplaced: Vec::new() };
    let roots = entries.iter().filter(|entry| entry.is_stored()).filter_map(|entry| u32::try_from(entry.root).ok());
    [1].into_iter().chain(roots).for_each(|root| owned.take_tree(root));
    owned.take_free(u32_at(header, FREE).unwrap_or(0));
    if u32_at(header, VACUUM).is_some_and(|root| root > 0) {
        owned.take_maps();
    }
    let Owned { owned, mut misplaced, .. } = owned;
    let last = if stated > 0 { stated } else { count };
    for (number, _) in owned.iter().enumerate().take(last + 1).skip(2).filter(|(_, is_owned)| !**is_owned) {
        let Ok(page) = u32::try_from(number) else { break };
        let is_of_tree = kind(pages, page).is_some_and(|kind| INTERIOR.contains(&kind) || LEAF.contains(&kind));
        if is_of_tree && number != LOCK_BYTE / pages.format.page_bytes + 1 {
            misplaced.push(UnreadablePage { page, fault: Fault::Unowned });
        }
    }
    misplaced.sort_by_key(|misplaced| misplaced.page);
    misplaced
}

fn kind(pages: Pages<'_>, page: u32) -> Option<u8> {
    pages.page(page)?.get(header_at(page)).copied()
}

struct Owned<'a> {
    pages: Pages<'a>,
    owned: Vec<bool>,
    misplaced: Vec<UnreadablePage>,
}

impl Owned<'_> {
    /// Marks a page, and returns whether it had no owner so far. Pages beyond the end are not marked.
    fn take(&mut self, page: u32) -> bool {
        let Some(owned) = self.owned.get_mut(page as usize).filter(|_| page > 0) else { return false };
        if *owned {
            self.misplaced.push(UnreadablePage { page, fault: Fault::UsedTwice });
            return false;
        }
        *owned = true;
        true
    }

    /// Marks the pages of a table or an index. Each page is visited once, so that cycles end.
    fn take_tree(&mut self, root: u32) {
        let mut open = vec![root];
        while let Some(page) = open.pop() {
            if !self.take(page) || !kind(self.pages, page).is_some_and(|kind| INTERIOR.contains(&kind)) {
                continue;
            }
            let children = children(self.pages, page);
            // All leaves are at the same depth, so that the first child that is a tree page determines the kind of all children.
            let mut kinds = children.iter().filter_map(|child| kind(self.pages, *child));
            let first = kinds.find(|kind| INTERIOR.contains(kind) || LEAF.contains(kind));
            if first.is_some_and(|kind| LEAF.contains(&kind)) {
                children.into_iter().for_each(|child| _ = self.take(child));
            } else {
                open.extend(children);
            }
        }
    }

    /// Marks the free pages: a chain of lists of pages.
    fn take_free(&mut self, first: u32) {
        let mut next = first;
        while next > 0 && self.take(next) {
            let list = self.pages.page(next).unwrap_or_default();
            let room = (list.len() / 4).saturating_sub(2);
            let count = u32_at(list, 4).map_or(0, |count| room.min(count as usize));
            let free: Vec<u32> = (0..count).filter_map(|at| u32_at(list, 8 + 4 * at)).collect();
            free.into_iter().for_each(|page| _ = self.take(page));
            next = u32_at(list, 0).unwrap_or(0);
        }
    }

    /// Marks the pages that list the owners of the pages after them. SQLite needs them to move pages.
    fn take_maps(&mut self) {
        let step = self.pages.format.usable_bytes / 5 + 1;
        let locked = LOCK_BYTE / self.pages.format.page_bytes + 1;
        for map in (2..self.owned.len()).step_by(step) {
            let map = if map == locked { map + 1 } else { map };
            u32::try_from(map).into_iter().for_each(|map| _ = self.take(map));
        }
    }
}

/// The pages below an interior page, without unreadable entries.
fn children(pages: Pages<'_>, page: u32) -> Vec<u32> {
    let bytes = pages.page(page).unwrap_or_default();
    let header = header_at(page);
    let cells = usize::from(u16_at(bytes, header + 3).unwrap_or(0));
    let child = |cell: usize| u32_at(bytes, usize::from(u16_at(bytes, header + 12 + 2 * cell)?));
    (0..cells.min(bytes.len() / 2)).filter_map(child).chain(u32_at(bytes, header + 8)).collect()
}
