//! The data that a rocprofv3 command collects.

use std::collections::BTreeSet;

use wavesieve_model::analysis::counter_plan::{GivenFlag, implied_flags};

/// Flags that restrict counters and thread traces.
const SELECTING: [&str; 4] =
    ["--kernel-include-regex", "--kernel-exclude-regex", "--kernel-iteration-range", "--profile-mpi-ranks"];

/// The data that the flags of a command collect. A flag that stands for several is included if all of these are.
pub(super) fn collected(flags: &[GivenFlag]) -> BTreeSet<String> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut items = BTreeSet::new();
    for flag in flags.iter().filter(|flag| !flag.is_off()) {
        let values = || flag.values.iter().flat_map(|value| value.split([' ', ','])).filter(|value| !value.is_empty());
        match (flag.group, flag.name) {
            ("tracing", name) => {
                names.insert(name);
            }
            (_, "--pmc") => items.extend(values().map(|counter| format!("pmc:{counter}"))),
            (_, "--spm") => items.extend(values().map(|counter| format!("spm:{counter}"))),
            (_, "--att-perfcounters") => items.extend(values().map(|counter| format!("att:{counter}"))),
            (_, "--input") => items.extend(values().map(|file| format!("input:{file}"))),
            ("PC sampling", _) => {
                items.insert("pc-sampling".to_owned());
            }
            (_, "--att") => {
                items.insert("att".to_owned());
            }
            _ => {}
        }
    }
    loop {
        let before = names.len();
        // The release is unknown here: data that only some --*-trace flags imply is not counted as collected.
        for (by, implied) in implied_flags(None) {
            if names.contains(by) {
                names.extend(&implied.flags);
            } else if !implied.is_more && implied.flags.iter().all(|flag| names.contains(flag)) {
                names.insert(by);
            }
        }
        if names.len() == before {
            break;
        }
    }
    items.extend(names.into_iter().map(|name| name.trim_start_matches('-').to_owned()));
    items
}

/// The kernels, iterations and ranks of counters and thread traces.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scope(BTreeSet<(&'static str, Vec<String>)>);

impl Scope {
    pub(super) fn of(flags: &[GivenFlag]) -> Self {
        let selecting = flags.iter().filter(|flag| SELECTING.contains(&flag.name));
        Self(selecting.map(|flag| (flag.name, flag.values.clone())).collect())
    }

    /// Returns whether data of this scope includes all that another scope requests.
    pub(super) fn covers(&self, other: &Self, item: &str) -> bool {
        let is_selected = ["pmc:", "spm:", "att"].iter().any(|start| item.starts_with(start));
        !is_selected || self.0.is_empty() || self == other
    }
}
