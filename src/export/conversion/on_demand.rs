//! Tables that a conversion writes only if they are named.

use crate::schema::{Origin, Table, table, tables};

/// The word for all tables that are made on demand.
const ALL: &str = "all";
/// The word for those that make joins unnecessary, and what they refer to.
const ANALYSIS: (&str, [&str; 5]) =
    ("analysis", ["dispatch_features", "iteration_kernels", "iterations", "process_features", "ranges"]);

/// The tables that are made when a query needs them.
fn on_demand() -> impl Iterator<Item = &'static Table> {
    tables().iter().copied().filter(|table| table.origin == Origin::OnDemand)
}

/// The tables with these names, in the order of their declaration.
pub(crate) fn on_demand_tables(names: &[String]) -> Vec<&'static Table> {
    let is_named = |table: &&'static Table| {
        names.iter().any(|name| {
            let is_of_analysis = name == ANALYSIS.0 && ANALYSIS.1.contains(&table.name);
            name == ALL || is_of_analysis || name == table.name
        })
    };
    on_demand().filter(is_named).collect()
}

/// The name of a table that is made on demand, or the word for several of them.
///
/// # Errors
/// When it is neither.
pub(crate) fn on_demand_name(name: &str) -> Result<String, String> {
    if [ALL, ANALYSIS.0].contains(&name) || on_demand().any(|table| table.name == name) {
        return Ok(name.to_owned());
    }
    let known: Vec<&str> = on_demand().map(|table| table.name).collect();
    Err(match table(name) {
        Some(_) => format!("{name} is always kept; name {ALL}, {} or some of {}", ANALYSIS.0, known.join(", ")),
        None => format!("no table is named {name}; name {ALL}, {} or some of {}", ANALYSIS.0, known.join(", ")),
    })
}
