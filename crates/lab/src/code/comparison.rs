//! Kernels of one file next to those of another.

use serde::Serialize;

use super::listing::{Wanted, impossible_launch};
use wavesieve_source::objects::{
    CodeObject, Fact, interface_difference, kernarg_difference, launch_difference, static_facts,
};

#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The older file.
    pub against: String,
    pub kernels: Vec<ComparedKernel>,
    /// Kernels of the older file without a counterpart for the same target.
    pub missing: Vec<MissingKernel>,
}

/// A kernel that only the older file has for its target.
#[derive(Debug, Serialize)]
pub struct MissingKernel {
    pub target: String,
    pub name: String,
    pub demangled: String,
    /// Whether the newer file has other kernels for the target.
    pub has_target: bool,
}

#[derive(Debug, Serialize)]
pub struct ComparedKernel {
    pub target: String,
    pub name: String,
    pub demangled: String,
    /// The first interface difference that affects programs that launch the kernel.
    pub interface_difference: Option<String>,
    /// The first launch of such a program that is no longer allowed.
    pub launch_difference: Option<String>,
    /// The first reason why arguments recorded for one kernel do not fit the other.
    pub kernarg_difference: Option<String>,
    pub facts: Vec<Fact>,
}

impl Comparison {
    /// Returns whether a program that was built for the older file runs with the newer one.
    pub fn has_same_interfaces(&self) -> bool {
        let is_same =
            |kernel: &ComparedKernel| kernel.interface_difference.is_none() && kernel.launch_difference.is_none();
        self.missing.is_empty() && self.kernels.iter().all(is_same)
    }
}

/// Compares kernels of the same symbol and target, in the order of the older file.
pub fn compared(against: String, old: &[CodeObject], new: &[CodeObject], wanted: &Wanted) -> Comparison {
    let mut comparison = Comparison { against, kernels: Vec::new(), missing: Vec::new() };
    for object in old {
        for before in object.kernels.iter().filter(|kernel| wanted.has(kernel)) {
            let counterparts = new.iter().filter(|other| other.target == object.target);
            let mut counterparts = counterparts.flat_map(|other| &other.kernels);
            let Some(after) = counterparts.find(|kernel| kernel.symbol == before.symbol) else {
                comparison.missing.push(MissingKernel {
                    target: object.target.clone(),
                    name: before.name.clone(),
                    demangled: before.demangled().into_owned(),
                    has_target: new.iter().any(|other| other.target == object.target),
                });
                continue;
            };
            let work_items = wanted.work_items(before);
            let mut facts = static_facts(&object.target, before, after, work_items, wanted.dynamic_lds_bytes);
            // A kernel that cannot be launched has no occupancy.
            for fact in facts.iter_mut().filter(|fact| fact.name == "waves_per_simd") {
                fact.before = fact.before.filter(|_| impossible_launch(before, work_items).is_none());
                fact.after = fact.after.filter(|_| impossible_launch(after, work_items).is_none());
            }
            comparison.kernels.push(ComparedKernel {
                target: object.target.clone(),
                name: before.name.clone(),
                demangled: before.demangled().into_owned(),
                interface_difference: interface_difference(before, after),
                launch_difference: launch_difference(before, after),
                kernarg_difference: kernarg_difference(before, after),
                facts,
            });
        }
    }
    comparison
}
