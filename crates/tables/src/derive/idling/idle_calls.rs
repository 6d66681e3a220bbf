//! The table `idle_calls`: idle time of each GPU, split by the call, function, range and state in which the launching thread was.

use std::collections::BTreeSet;

use crate::derive::idling::idle_gaps::{self, FAMILY};
use crate::derive::{Build, DerivedTable, Needs, RowsWhen, WhyEmpty};
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    needs_of: Some(needs_of),
    rows_when: RowsWhen::any(&["kernels", "memory_copies"]).if_found(),
    why_empty: WhyEmpty::AllIsWell,
    ..DerivedTable::new(&tables::idling::IDLE_CALLS, needs, Build::Family(&FAMILY))
};

fn needs() -> Needs {
    idle_gaps::needs_of_calls(true, true)
}

/// Like [`needs`] if only some columns of the table are wanted.
fn needs_of(wanted: &BTreeSet<&'static str>) -> Needs {
    idle_gaps::needs_of_calls(wanted.contains(idle_gaps::RANGE), wanted.contains(idle_gaps::STATE))
}
