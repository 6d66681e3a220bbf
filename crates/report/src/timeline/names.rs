//! Names of slices, each stored once.

use std::collections::BTreeMap;

use wavesieve_engine::NameForm;
use wavesieve_engine::findings::shortened;
use wavesieve_model::analysis::kernel_names::ReadableNames;

/// Maximum length of a name; the beginning identifies longer ones.
const LONGEST: usize = 240;

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
        let kernels = self.kernels;
        let shown = kernels.shown(name);
        if self.form == NameForm::Readable && shown == name {
            let alone = ReadableNames::new([name]);
            return self.index(&alone.shown(name));
        }
        self.index(&shown)
    }

    /// All names in the order of their numbers.
    pub(super) fn into_list(self) -> Vec<String> {
        self.list
    }
}
