//! Kernels with the text of a mark as their name. If renaming is requested, rocprofv3 names kernels after the last text of their thread,
//! even after a mark, which never ends. With `--kokkos-trace` it also did so without a request until July 2026 (rocm-systems pull request
//! 8141).

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::add_texts;
use wavesieve_model::schema::anomaly::{Anomaly, Severity};

/// Maximum number of texts: more are not names of kernels.
const MAX_TEXTS: usize = 100_000;

/// The names of kernels, and the texts of marks and ranges.
#[derive(Debug, Default)]
pub(crate) struct NamesAndMarks {
    kernels: BTreeSet<String>,
    renamed: BTreeSet<String>,
    marks: BTreeSet<String>,
    ranges: BTreeSet<String>,
}

impl NamesAndMarks {
    /// Takes the names of dispatches.
    pub(crate) fn add_kernels(&mut self, kernels: &DataFrame) -> Result<()> {
        for (column, names) in [("kernel_name", &mut self.kernels), ("region_name", &mut self.renamed)] {
            let column = kernels.column(column)?;
            if column.null_count() == column.len() {
                continue;
            }
            add_texts(column, names)?;
        }
        Ok(())
    }

    /// Takes the texts of marks.
    pub(crate) fn add_marks(&mut self, marks: &DataFrame) -> Result<()> {
        add(&mut self.marks, marks)
    }

    /// Takes the texts of ranges, which may also be names of kernels.
    pub(crate) fn add_ranges(&mut self, regions: &DataFrame) -> Result<()> {
        add(&mut self.ranges, regions)
    }

    /// Finds names that are texts of marks but not of ranges.
    pub fn check(&self) -> Vec<Anomaly> {
        if self.ranges.len() >= MAX_TEXTS {
            return Vec::new();
        }
        let by_marks = |names: &BTreeSet<String>| -> Vec<String> {
            names.iter().filter(|name| self.marks.contains(*name) && !self.ranges.contains(*name)).cloned().collect()
        };
        let cause = "rocprofv3 names kernels after the last mark of their thread with --kernel-rename, and before July 2026 with \
                     --kokkos-trace";
        let lost = "their own names are lost; collect again with a newer release, or without renaming";
        let kept = "`kernel_name` has their own names";
        let own = by_marks(&self.kernels).into_iter().filter(|name| !may_be_of_kernel(name)).collect();
        [(own, Severity::Warning, lost), (by_marks(&self.renamed), Severity::Info, kept)]
            .into_iter()
            .filter_map(|(names, severity, rest): (Vec<String>, Severity, &str)| {
                let first = names.first()?;
                let detail = format!("names of kernels are texts of marks, such as \"{first}\": {cause}; {rest}");
                Some(Anomaly::new("named_by_mark", severity, "kernels", names.len(), detail))
            })
            .collect()
    }
}

/// Whether a kernel may have this name itself: one with parameters, or a bare identifier. A mark may have the same name.
fn may_be_of_kernel(name: &str) -> bool {
    name.contains('(') || name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '$'))
}

fn add(texts: &mut BTreeSet<String>, frame: &DataFrame) -> Result<()> {
    for text in frame.column("message")?.str()?.iter().flatten() {
        if texts.len() >= MAX_TEXTS {
            break;
        }
        if !texts.contains(text) {
            texts.insert(text.to_owned());
        }
    }
    Ok(())
}
