//! Names of slices, each stored once.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::model::Window;
use wavesieve_engine::NameForm;
use wavesieve_engine::findings::shortened;
use wavesieve_model::analysis::kernel_names::ReadableNames;

/// Maximum length of a name; start and end identify longer ones.
const LONGEST: usize = 240;
/// Maximum lengths if a picture would be too large.
const SHORTER: [usize; 2] = [120, 60];

/// Names of a picture while it is made.
pub(super) struct Names<'a> {
    list: Vec<String>,
    known: BTreeMap<String, usize>,
    kernels: &'a ReadableNames,
    form: NameForm,
}

impl<'a> Names<'a> {
    /// No names. Kernels are named as in the document.
    pub(super) fn new(kernels: &'a ReadableNames, form: NameForm) -> Self {
        Self { list: Vec::new(), known: BTreeMap::new(), kernels, form }
    }

    /// The number of a name.
    pub(super) fn index(&mut self, name: &str) -> usize {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let next = self.list.len();
        self.list.push(shortened(name, LONGEST));
        self.known.insert(name.to_owned(), next);
        next
    }

    /// The number of the name of a kernel, as the document shows it.
    pub(super) fn kernel(&mut self, name: &str) -> usize {
        let shown = self.shown(name);
        self.index(&shown)
    }

    /// The name of a kernel, as the document shows it.
    pub(super) fn shown(&self, name: &str) -> String {
        let shown = self.kernels.shown(name);
        if self.form == NameForm::Readable && shown == name {
            return ReadableNames::new([name]).shown(name).into_owned();
        }
        shown.into_owned()
    }

    /// Bytes of names as JSON, about: each has two quotes and a comma.
    pub(super) fn bytes(&self, used: &BTreeSet<usize>) -> usize {
        bytes(used.iter().filter_map(|number| self.list.get(*number)))
    }

    /// The names that windows use, in the order of the numbers that these get. Long names are shortened if windows and names have more
    /// bytes than the budget.
    ///
    /// # Errors
    /// When a window cannot be written, which is a defect.
    pub(super) fn finish(self, windows: &mut [Window], budget: usize) -> Result<Vec<String>> {
        let used = used(windows.iter());
        let numbers: BTreeMap<usize, usize> = used.iter().copied().zip(0..).collect();
        let number = |old: usize| numbers.get(&old).copied().unwrap_or(0);
        let mut left = budget;
        for window in windows {
            for slices in window.lanes.iter_mut().map(|lane| &mut lane.slices) {
                for name in &mut slices.name {
                    *name = number(*name);
                }
                for about in &mut slices.about {
                    if let Ok(old) = usize::try_from(*about) {
                        *about = i64::try_from(number(old)).unwrap_or(-1);
                    }
                }
            }
            left = left.saturating_sub(serde_json::to_vec(window)?.len());
        }
        let mut list: Vec<String> = used.iter().filter_map(|number| self.list.get(*number)).cloned().collect();
        for most in SHORTER {
            if bytes(&list) <= left {
                break;
            }
            list = list.iter().map(|name| shortened(name, most)).collect();
        }
        Ok(list)
    }
}

fn bytes<'n>(names: impl IntoIterator<Item = &'n String>) -> usize {
    names.into_iter().map(|name| name.len() + 3).sum()
}

/// Numbers of names that windows use.
pub(super) fn used<'w>(windows: impl IntoIterator<Item = &'w Window>) -> BTreeSet<usize> {
    let lanes = windows.into_iter().flat_map(|window| &window.lanes);
    let numbers = lanes.flat_map(|lane| {
        let about = lane.slices.about.iter().filter_map(|about| usize::try_from(*about).ok());
        lane.slices.name.iter().copied().chain(about)
    });
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::model::{Lane, Slices};

    #[test]
    fn only_used_names_stay_and_long_ones_are_shortened() {
        let kernels = ReadableNames::default();
        let mut names = Names::new(&kernels, NameForm::Full);
        let long = |letter: &str| letter.repeat(200);
        for name in ["unused", long("a").as_str(), "about", long("b").as_str()] {
            names.index(name);
        }
        let slices = Slices { name: vec![3, 1], about: vec![-1, 2], ..Slices::default() };
        let lane = Lane { slices, ..Lane::default() };
        let window = Window { lanes: vec![lane], ..Window::default() };
        let size = serde_json::to_vec(&window).unwrap().len();
        assert_eq!(names.bytes(&used([&window])), 203 + 8 + 203);
        let mut windows = [window];
        let list = names.finish(&mut windows, size + 300).unwrap();
        let lengths: Vec<usize> = list.iter().map(|name| name.chars().count()).collect();
        assert_eq!(lengths, [120, 5, 120]);
        let slices = &windows[0].lanes[0].slices;
        assert_eq!(slices.name, [2, 0]);
        assert_eq!(slices.about, [-1, 1]);
    }
}
