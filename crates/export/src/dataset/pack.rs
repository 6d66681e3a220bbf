//! Packs row groups into the files that they share.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rayon::prelude::*;

use super::groups::Group;
use super::part::write_part;
use wavesieve_input::{StoredPart, part_name};
use wavesieve_model::schema::Table;
use wavesieve_tables::ablation::{Optimization, is_on};

/// Default maximum of the bytes of the row groups of a part.
pub const PACK_BYTES: u64 = 128 << 20;
/// Maximum number of row groups of a part: the format numbers them with 16 bits, and each has an entry in the footer,
/// which every reader parses.
const MOST_GROUPS: usize = 4_096;

/// Puts the row groups of a table into parts, in the order in which they come.
pub(crate) struct Packer<'a> {
    folder: PathBuf,
    table: &'static Table,
    filling: Filling,
    /// The row groups of the part that is being filled.
    filled: Vec<Group<'a>>,
    /// Parts that are full, and not yet written.
    full: Vec<Vec<Group<'a>>>,
    written: Vec<StoredPart>,
}

impl<'a> Packer<'a> {
    /// Creates a packer for parts of at most `pack_bytes` below `directory`.
    pub fn new(directory: &Path, table: &'static Table, pack_bytes: u64) -> Self {
        let folder = directory.join(table.name);
        let filling = Filling { pack_bytes, bytes: 0, groups: 0 };
        Self { folder, table, filling, filled: Vec::new(), full: Vec::new(), written: Vec::new() }
    }

    /// Adds the next row group. Parts are written as soon as one is full for each thread, so that their origins are not
    /// kept longer.
    pub fn push(&mut self, group: Group<'a>) -> Result<()> {
        if self.filling.starts_anew(group.bytes()) {
            self.full.push(std::mem::take(&mut self.filled));
            if self.full.len() >= rayon::current_num_threads() {
                self.write()?;
            }
        }
        self.filled.push(group);
        Ok(())
    }

    /// Writes what is left, and returns what the manifest lists of all parts.
    pub fn finish(mut self) -> Result<Vec<StoredPart>> {
        if !self.filled.is_empty() {
            self.full.push(std::mem::take(&mut self.filled));
        }
        self.write()?;
        Ok(self.written)
    }

    /// Writes the full parts. Those that an earlier dataset has already are linked or copied from there.
    fn write(&mut self) -> Result<()> {
        if self.full.is_empty() {
            return Ok(());
        }
        fs::create_dir_all(&self.folder).with_context(|| format!("cannot create {}", self.folder.display()))?;
        let first = self.written.len();
        let write = |(number, groups): (usize, Vec<Group<'a>>)| {
            let path = self.folder.join(part_name(first + number));
            match whole_part(&groups) {
                Some(part) => {
                    link(part.path(), &path)?;
                    Ok(part.listed().clone())
                }
                None => write_part(&path, self.table, &groups),
            }
        };
        let parts: Result<Vec<StoredPart>> =
            std::mem::take(&mut self.full).into_par_iter().enumerate().map(write).collect();
        self.written.extend(parts?);
        Ok(())
    }
}

/// Fill level of a part. A part has as many row groups as the limit allows, and at least one.
struct Filling {
    pack_bytes: u64,
    bytes: u64,
    groups: usize,
}

impl Filling {
    /// Counts a row group. Returns whether it is the first of the next part.
    fn starts_anew(&mut self, bytes: u64) -> bool {
        let together = self.bytes.saturating_add(bytes);
        let is_full = self.groups > 0 && (together > self.pack_bytes || self.groups >= MOST_GROUPS);
        (self.bytes, self.groups) = if is_full { (bytes, 1) } else { (together, self.groups + 1) };
        is_full
    }
}

/// The part of an earlier dataset that has exactly these row groups.
fn whole_part<'a>(groups: &[Group<'a>]) -> Option<&'a wavesieve_input::FilePart> {
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

    /// Where each part starts, and where the last ends.
    fn ends(sizes: &[u64], pack_bytes: u64) -> Vec<usize> {
        let mut filling = Filling { pack_bytes, bytes: 0, groups: 0 };
        let starts = sizes.iter().enumerate().filter_map(|(place, size)| filling.starts_anew(*size).then_some(place));
        std::iter::once(0).chain(starts.collect::<Vec<_>>()).chain([sizes.len()]).collect()
    }

    #[test]
    fn parts_are_filled_in_order() {
        assert_eq!(ends(&[3, 3, 3, 9, 1, 1], 7), [0, 2, 3, 4, 6]);
        assert_eq!(ends(&[100], 7), [0, 1]);
        assert_eq!(ends(&[7, 7], 7), [0, 1, 2]);
        assert_eq!(ends(&[0, 7, 0], 7), [0, 3]);
        assert_eq!(ends(&vec![1; 10_000], 1 << 30), [0, 4_096, 8_192, 10_000]);
    }
}
