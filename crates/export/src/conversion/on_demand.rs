//! Tables that a conversion writes only if they are named.

use wavesieve_model::schema::{Origin, Table, table, tables};

/// The word for all tables that are made on demand.
const ALL: &str = "all";
/// The word for the tables that make joins unnecessary and those that they refer to.
const ANALYSIS: (&str, [&str; 5]) =
    ("analysis", ["dispatch_features", "iteration_kernels", "iterations", "process_features", "ranges"]);

/// The tables that are made when a query needs them.
fn on_demand() -> impl Iterator<Item = &'static Table> {
    tables().iter().copied().filter(|table| table.origin == Origin::OnDemand)
}

/// A table that always covers the whole run. It would not fit next to tables that filters reduced.
const OF_WHOLE_RUN: &str = "process_features";

/// Returns the tables with these names in the order of their declaration, and the name of a table that is left out
/// because filters choose rows.
pub fn on_demand_tables(names: &[String], chooses_rows: bool) -> (Vec<&'static Table>, Option<&'static str>) {
    let is_named = |table: &&'static Table| {
        names.iter().any(|name| {
            let is_of_analysis = name == ANALYSIS.0 && ANALYSIS.1.contains(&table.name);
            name == ALL || is_of_analysis || name == table.name
        })
    };
    let (left_out, kept): (Vec<&'static Table>, Vec<&'static Table>) =
        on_demand().filter(is_named).partition(|table| chooses_rows && table.name == OF_WHOLE_RUN);
    (kept, left_out.first().map(|table| table.name))
}

/// Accepts the name of a table that is made on demand, or the word for several of them.
///
/// # Errors
/// When it is neither.
pub fn on_demand_name(name: &str) -> Result<String, String> {
    if [ALL, ANALYSIS.0].contains(&name) || on_demand().any(|table| table.name == name) {
        return Ok(name.to_owned());
    }
    let known: Vec<&str> = on_demand().map(|table| table.name).collect();
    Err(match table(name) {
        Some(_) => format!("{name} is always kept; name {ALL}, {} or some of {}", ANALYSIS.0, known.join(", ")),
        None => format!("no table is named {name}; name {ALL}, {} or some of {}", ANALYSIS.0, known.join(", ")),
    })
}
