//! A comparison for screens: readable names of kernels in place of full ones.

use wavesieve_model::analysis::kernel_names::ReadableNames;

use super::comparability::Level;
use super::document::Comparison;
use super::summary;

impl Comparison {
    /// The readable names of its kernels.
    pub fn readable_names(&self) -> ReadableNames {
        let mut all: Vec<&str> = Vec::new();
        for kernel in &self.kernels {
            let sides = [Some(&kernel.key), kernel.base_name.as_ref(), kernel.new_name.as_ref()];
            all.extend(sides.into_iter().flatten().map(String::as_str));
        }
        all.extend(self.added.iter().chain(&self.gone).map(|kernel| kernel.kernel.as_str()));
        all.extend(self.counters.iter().map(|row| row.kernel.as_str()));
        all.extend(self.alignment.iter().flat_map(|row| [&row.base, &row.new]).flatten().map(String::as_str));
        all.extend(self.path.iter().filter(|row| row.kind == "kernel").filter_map(|row| row.kernel.as_deref()));
        ReadableNames::new(all)
    }

    /// Full names of matched kernels on both sides.
    pub fn matched_names(&self) -> Vec<(String, String)> {
        let matched = self.kernels.iter().filter(|kernel| kernel.matched_by.is_some());
        let names = matched.map(|kernel| {
            let side = |name: &Option<String>| name.clone().unwrap_or_else(|| kernel.key.clone());
            (side(&kernel.base_name), side(&kernel.new_name))
        });
        names.collect()
    }

    /// The comparison as screens show it; tables of pages keep the full names next to the readable ones.
    pub(crate) fn readable(&self, names: &ReadableNames) -> Self {
        let change = |name: &mut String| {
            let form = names.shown(name).into_owned();
            *name = form;
        };
        let mut shown = self.clone();
        shown.kernels.iter_mut().for_each(|kernel| {
            let sides = [Some(&mut kernel.key), kernel.base_name.as_mut(), kernel.new_name.as_mut()];
            sides.into_iter().flatten().for_each(change);
        });
        shown.added.iter_mut().chain(&mut shown.gone).for_each(|kernel| change(&mut kernel.kernel));
        shown.counters.iter_mut().for_each(|row| change(&mut row.kernel));
        shown.path.iter_mut().filter_map(|row| row.kernel.as_mut()).for_each(change);
        shown.replaced.iter_mut().for_each(|row| row.base.iter_mut().chain(&mut row.new).for_each(change));
        shown.renamed.iter_mut().for_each(|row| [&mut row.base, &mut row.new].into_iter().for_each(change));
        shown.alignment.iter_mut().flat_map(|row| [&mut row.base, &mut row.new]).flatten().for_each(change);
        let is_blocked = self.comparability.iter().any(|check| check.level == Level::Blocking);
        shown.reason = summary::verdict(&shown, is_blocked).1;
        for result in shown.gate.failed.iter_mut().chain(&mut shown.gate.undecided) {
            // A gate names a kernel at the start of its reason.
            let named = names.pairs().filter(|(name, _)| result.reason.starts_with(name));
            if let Some((name, form)) = named.max_by_key(|(name, _)| name.len()) {
                result.reason = result.reason.replacen(name, form, 1);
            }
        }
        shown
    }
}
