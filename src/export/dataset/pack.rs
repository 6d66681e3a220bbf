//! Which row groups share a file, and the files of all tables.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::groups::Group;
use super::part::write_part;
use crate::ablation::{Optimization, is_on};
use crate::input::{StoredPart, part_name};
use crate::schema::Table;

/// Bytes that the row groups of a part have at most, where nothing else is asked for.
pub(crate) const PACK_BYTES: u64 = 128 << 20;
/// Row groups that a part has at most: the format numbers them with 16 bits, and each has a place in the footer, which every reader parses.
const MOST_GROUPS: usize = 4_096;

/// Writes the parts of a table below `directory`. Those that an earlier dataset has already are linked or copied from there.
///
/// # Errors
/// When a row group cannot be read, or a file cannot be written.
pub(crate) fn pack(
    directory: &Path,
    table: &'static Table,
    groups: &[Group<'_>],
    pack_bytes: u64,
) -> Result<Vec<StoredPart>> {
    if groups.is_empty() {
        return Ok(Vec::new());
    }
    let folder = directory.join(table.name);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let write = |(number, groups): (usize, &[Group<'_>])| {
        let path = folder.join(part_name(number));
        match whole_part(groups) {
            Some(part) => {
                link(part.path(), &path)?;
                Ok(part.listed().clone())
            }
            None => write_part(&path, table, groups),
        }
    };
    split(groups, pack_bytes).into_iter().enumerate().map(write).collect()
}

/// The row groups of each part: as many as are not larger together than allowed, and at least one.
fn split<'a, 'b>(groups: &'b [Group<'a>], pack_bytes: u64) -> Vec<&'b [Group<'a>]> {
    let sizes: Vec<u64> = groups.iter().map(Group::bytes).collect();
    ends(&sizes, pack_bytes).windows(2).filter_map(|ends| groups.get(*ends.first()?..*ends.last()?)).collect()
}

/// Where each part starts, and where the last ends.
fn ends(sizes: &[u64], pack_bytes: u64) -> Vec<usize> {
    let mut ends = vec![0];
    let mut bytes = 0_u64;
    for (place, size) in sizes.iter().enumerate() {
        bytes = bytes.saturating_add(*size);
        let start = ends.last().copied().unwrap_or(0);
        if place > start && (bytes > pack_bytes || place - start >= MOST_GROUPS) {
            ends.push(place);
            bytes = *size;
        }
    }
    ends.push(sizes.len());
    ends
}

/// The part of an earlier dataset that has just these row groups.
fn whole_part<'a>(groups: &[Group<'a>]) -> Option<&'a crate::input::Part> {
    let (part, _) = groups.first()?.place()?;
    let is_next = |(number, group): (usize, &Group<'a>)| {
        group.place().is_some_and(|(other, place)| std::ptr::eq(part, other) && place == number)
    };
    (is_on(Optimization::Linked) && part.listed().row_groups == groups.len() && groups.iter().enumerate().all(is_next))
        .then_some(part)
}

fn link(source: &Path, target: &Path) -> Result<()> {
    // A link to a link would lead nowhere when the old dataset is gone.
    let place = source.canonicalize().unwrap_or_else(|_| source.to_owned());
    if fs::hard_link(&place, target).is_err() {
        fs::copy(source, target).with_context(|| format!("cannot copy {}", source.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_filled_in_order() {
        assert_eq!(ends(&[3, 3, 3, 9, 1, 1], 7), [0, 2, 3, 4, 6]);
        assert_eq!(ends(&[100], 7), [0, 1]);
        assert_eq!(ends(&[7, 7], 7), [0, 1, 2]);
        assert_eq!(ends(&[0, 7, 0], 7), [0, 3]);
        assert_eq!(ends(&vec![1; 10_000], 1 << 30), [0, 4_096, 8_192, 10_000]);
    }
}
