//! The common lines of two texts.

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// Maximum number of differing lines. Beyond it, everything between the first and the last of them counts as changed: a
/// minimal diff would take too long.
const MOST_CHANGES: usize = 4096;

/// Two texts by lines, with line ends, and the operations that turn one into the other.
pub(super) struct LineDiff<'a> {
    pub old: Vec<&'a str>,
    pub new: Vec<&'a str>,
    operations: Vec<DiffOp>,
}

impl<'a> LineDiff<'a> {
    pub(super) fn new(old: &'a str, new: &'a str) -> Self {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let new: Vec<&str> = new.split_inclusive('\n').collect();
        let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
        let head = old.iter().zip(&new).take_while(same).count();
        let rest = old.len().min(new.len()) - head;
        let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(same).count();
        let (old_len, new_len) = (old.len() - head - tail, new.len() - head - tail);
        let middle = |lines: &[&'a str], len: usize| lines.iter().skip(head).take(len).copied().collect::<Vec<_>>();
        let operations = if differ_little(&middle(&old, old_len), &middle(&new, new_len)) {
            placed(&capture_diff_slices(Algorithm::Myers, &old, &new))
        } else {
            let (old_tail, new_tail) = (head + old_len, head + new_len);
            vec![
                DiffOp::Equal { old_index: 0, new_index: 0, len: head },
                DiffOp::Replace { old_index: head, old_len, new_index: head, new_len },
                DiffOp::Equal { old_index: old_tail, new_index: new_tail, len: tail },
            ]
        };
        Self { old, new, operations }
    }

    /// Numbers of added and removed lines.
    pub(super) fn counts(&self) -> (usize, usize) {
        let changed = self.operations.iter().filter(|operation| !matches!(operation, DiffOp::Equal { .. }));
        changed.fold((0, 0), |(added, removed), operation| {
            (added + operation.new_range().len(), removed + operation.old_range().len())
        })
    }

    pub(super) fn hunks(&self) -> Vec<Vec<DiffOp>> {
        let mut operations = self.operations.clone();
        operations.retain(|operation| !operation.old_range().is_empty() || !operation.new_range().is_empty());
        let mut hunks = group_diff_ops(operations, CONTEXT);
        hunks.retain(|hunk| hunk.iter().any(|operation| !matches!(operation, DiffOp::Equal { .. })));
        hunks
    }
}

/// Operations with correct positions, which the algorithm does not keep. Adjacent changes are merged.
fn placed(operations: &[DiffOp]) -> Vec<DiffOp> {
    let (mut old_end, mut new_end) = (0, 0);
    let mut placed = Vec::with_capacity(operations.len());
    for operation in operations {
        let (old, new) = (operation.old_range().len(), operation.new_range().len());
        match (operation, placed.last_mut()) {
            (DiffOp::Equal { len, .. }, _) => {
                placed.push(DiffOp::Equal { old_index: old_end, new_index: new_end, len: *len });
            }
            (_, Some(DiffOp::Replace { old_len, new_len, .. })) => {
                *old_len += old;
                *new_len += new;
            }
            _ => placed.push(DiffOp::Replace { old_index: old_end, old_len: old, new_index: new_end, new_len: new }),
        }
        (old_end, new_end) = (old_end + old, new_end + new);
    }
    placed
}

/// Returns whether few changes turn one text into the other, by the greedy algorithm of Myers up to that limit.
fn differ_little(old: &[&str], new: &[&str]) -> bool {
    if old.is_empty() || new.is_empty() {
        return true;
    }
    // The furthest line of `old` on each diagonal. Diagonals are numbered from the one on which most of `new` is left.
    let middle = MOST_CHANGES + 1;
    let mut furthest = vec![0_usize; 2 * middle + 1];
    for changes in 0..=MOST_CHANGES {
        for diagonal in (middle - changes..=middle + changes).step_by(2) {
            let reached = |at: usize| furthest.get(at).copied().unwrap_or(0);
            let is_down = diagonal == middle - changes
                || (diagonal != middle + changes && reached(diagonal - 1) < reached(diagonal + 1));
            let mut of_old = match (changes, is_down) {
                (0, _) => 0,
                (_, true) => reached(diagonal + 1),
                (_, false) => reached(diagonal - 1) + 1,
            };
            let Some(mut of_new) = (of_old + middle).checked_sub(diagonal) else { continue };
            while let (Some(left), Some(right)) = (old.get(of_old), new.get(of_new))
                && left == right
            {
                (of_old, of_new) = (of_old + 1, of_new + 1);
            }
            if let Some(place) = furthest.get_mut(diagonal) {
                *place = of_old;
            }
            if of_old >= old.len() && of_new >= new.len() {
                return true;
            }
        }
    }
    false
}
