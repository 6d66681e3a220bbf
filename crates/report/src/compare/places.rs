//! Unmatched kernels that replace each other. A typical iteration of each side is aligned with the other; the kernels
//! between two common kernels replace each other.

use std::collections::{BTreeMap, BTreeSet};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::digest::GpuDigest;
use super::matching::KernelPair;
use super::side::{Side, key};

/// Kernels of the new side that replace kernels of the base side; names in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced<'a> {
    pub base: Vec<&'a str>,
    pub new: Vec<&'a str>,
}

/// A kernel of the typical iteration.
#[derive(Clone, Copy)]
struct IterationStep<'a> {
    name: &'a str,
    category: &'a str,
}

/// A kernel of a typical iteration on one side or both, and the number of common kernels before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aligned {
    /// Number of kernels before it that both sides have in the same order.
    pub after: usize,
    pub base: Option<String>,
    pub new: Option<String>,
}

/// Differences between typical iterations of both sides, in order.
pub fn alignment(base: &Side, new: &Side, rows: &[KernelPair<'_>]) -> Vec<Aligned> {
    let Some((base, new)) = typical_iterations(base, new) else { return Vec::new() };
    let (of_base, of_new) = numbers(rows);
    let (base_tokens, new_tokens) = (tokens(&base, &of_base), tokens(&new, &of_new));
    let (mut after, mut found) = (0, Vec::new());
    let name = |steps: &[IterationStep<'_>], place: usize| steps.get(place).map(|step| step.name.to_owned());
    for operation in capture_diff_slices(Algorithm::Myers, &base_tokens, &new_tokens) {
        let (_, old, fresh) = operation.as_tag_tuple();
        if let DiffOp::Equal { len, .. } = operation {
            after += len;
            continue;
        }
        for place in 0..old.len().max(fresh.len()) {
            found.push(Aligned {
                after,
                base: old.clone().nth(place).and_then(|place| name(&base, place)),
                new: fresh.clone().nth(place).and_then(|place| name(&new, place)),
            });
        }
    }
    found
}

/// Numbers of the rows that both sides have, by the names on each.
type Numbers<'a> = BTreeMap<&'a str, usize>;

fn numbers<'a>(rows: &[KernelPair<'a>]) -> (Numbers<'a>, Numbers<'a>) {
    let (mut of_base, mut of_new) = (Numbers::new(), Numbers::new());
    for (number, row) in rows.iter().enumerate() {
        if let (Some(base), Some(new)) = (&row.base, &row.new) {
            of_base.insert(base.name, number);
            of_new.insert(new.name, number);
        }
    }
    (of_base, of_new)
}

/// Matched kernels by their rows, which both sequences have in common; others by their names.
fn tokens<'a>(steps: &[IterationStep<'a>], matched: &Numbers<'_>) -> Vec<Result<usize, &'a str>> {
    let token = |step: &IterationStep<'a>| matched.get(step.name).map_or(Err(step.name), |number| Ok(*number));
    steps.iter().map(token).collect()
}

/// The intervals of a typical iteration that differ, with unmatched kernels on both sides that have a category in
/// common: a fused kernel has the category of one of its parts. A kernel that is in intervals with different partners
/// is in none.
pub fn intervals<'a>(base: &'a Side, new: &'a Side, rows: &[KernelPair<'a>]) -> Vec<Replaced<'a>> {
    let Some((base, new)) = typical_iterations(base, new) else { return Vec::new() };
    let (of_base, of_new) = numbers(rows);
    let (base_tokens, new_tokens) = (tokens(&base, &of_base), tokens(&new, &of_new));
    let mut found: Vec<(BTreeSet<&str>, BTreeSet<&str>)> = Vec::new();
    for operation in capture_diff_slices(Algorithm::Myers, &base_tokens, &new_tokens) {
        let DiffOp::Replace { old_index, old_len, new_index, new_len } = operation else { continue };
        let of = |steps: &[IterationStep<'a>], from: usize, count: usize, matched: &BTreeMap<&str, usize>| {
            let steps = steps.iter().skip(from).take(count).filter(|step| !matched.contains_key(step.name));
            steps.copied().collect::<Vec<IterationStep<'a>>>()
        };
        let (old, new) = (of(&base, old_index, old_len, &of_base), of(&new, new_index, new_len, &of_new));
        let categories =
            |steps: &[IterationStep<'a>]| steps.iter().map(|step| step.category).collect::<BTreeSet<&str>>();
        let names = |steps: &[IterationStep<'a>]| steps.iter().map(|step| step.name).collect::<BTreeSet<&'a str>>();
        if !categories(&old).is_disjoint(&categories(&new)) {
            found.push((names(&old), names(&new)));
        }
    }
    let distinct: BTreeSet<(BTreeSet<&str>, BTreeSet<&str>)> = found.into_iter().collect();
    let is_alone = |(base, new): &&(BTreeSet<&str>, BTreeSet<&str>)| {
        let shares =
            |other: &&(BTreeSet<&str>, BTreeSet<&str>)| !other.0.is_disjoint(base) || !other.1.is_disjoint(new);
        distinct.iter().filter(shares).count() == 1
    };
    let replaced = |(base, new): &(BTreeSet<&'a str>, BTreeSet<&'a str>)| Replaced {
        base: base.iter().copied().collect(),
        new: new.iter().copied().collect(),
    };
    distinct.iter().filter(is_alone).map(replaced).collect()
}

/// A typical iteration of the first GPU that has one on both sides.
fn typical_iterations<'a>(base: &'a Side, new: &'a Side) -> Option<(Vec<IterationStep<'a>>, Vec<IterationStep<'a>>)> {
    fn steps(gpu: &GpuDigest) -> Vec<IterationStep<'_>> {
        let kernel = |place: &u32| gpu.kernels.get(*place as usize);
        let step = |place| kernel(place).map(|kernel| IterationStep { name: &kernel.name, category: &kernel.category });
        gpu.typical.iter().filter_map(step).collect()
    }
    base.gpus().filter(|gpu| !gpu.typical.is_empty()).find_map(|gpu| {
        let other = new.gpus().find(|other| key(other) == key(gpu) && !other.typical.is_empty())?;
        Some((steps(gpu), steps(other)))
    })
}
