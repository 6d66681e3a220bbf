//! The table `units`: the unit of work of a process, its evidence, and other units that its trace offers.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{categories, texts};
use crate::derive::repeating::marked_ranges::MarkedRanges;
use crate::derive::repeating::run_parts;
use crate::derive::repeating::unit_choice::UnitChoice;
use crate::derive::repeating::unit_search::{REPETITION, UnitSearch, layers_as_units};
use crate::derive::repeating::units::{self, Units};
use crate::derive::{Build, DerivedTable, Frames, Rows, RowsWhen, WhyEmpty, column};
use wavesieve_model::analysis::ranges::names::is_named;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows: Rows::Descriptions,
    rows_when: RowsWhen::all(&["kernels"]).if_found(),
    why_empty: WhyEmpty::Because("no process repeats a sequence of kernels, and no range has GPU work twice"),
    ..DerivedTable::new(&tables::ranging::UNITS, units::kernel_needs, Build::Family(&run_parts::FAMILY))
};

/// Names of ranges whose work is looked up, those that last longest.
const MOST_LOOKED_UP: usize = 16;

/// The table of the units of a process: `chosen` comes first if there are any.
pub(super) fn table(tables: &Frames, search: &UnitSearch<'_>, chosen: Units) -> Result<DataFrame> {
    let has_chosen = !chosen.all.is_empty();
    let offers = offers(tables, search, chosen)?;
    let all_ns = search.kernels.total_ns();
    let confidence = |units: &Units| search.facts.confidence(units.found_by, units.kernel_ns(), all_ns).word();
    let whole = |name, value: &dyn Fn(&Units) -> i64| column(name, offers.iter().map(value).collect());
    let options: Vec<String> = offers.iter().map(option).collect();
    let is_chosen = (0..offers.len()).map(|place| has_chosen && place == 0);
    Ok(DataFrame::new_infer_height(vec![
        column("place", (0..offers.len() as i64).collect()),
        categories("unit", offers.iter().map(|units| Some(units.unit)))?,
        texts("name", offers.iter().map(|units| units.name.as_deref())),
        categories("found_by", offers.iter().map(|units| Some(units.found_by)))?,
        whole("count", &|units| units.all.len() as i64),
        whole("median_ns", &median_ns),
        whole("kernel_ns", &Units::kernel_ns),
        whole("all_kernel_ns", &|_| all_ns),
        categories("confidence", offers.iter().map(|units| Some(confidence(units))))?,
        BooleanChunked::from_iter_values("is_chosen".into(), is_chosen).into_column(),
        texts("option", options.iter().map(|option| Some(option.as_str()))),
    ])?)
}

/// The value of `--unit` that chooses units.
fn option(units: &Units) -> String {
    match &units.name {
        Some(name) => UnitChoice::Range(name.clone()).to_string(),
        None if units.unit == REPETITION => UnitChoice::Iteration.to_string(),
        None => units.unit.to_owned(),
    }
}

/// The lower of two in the middle.
fn median_ns(units: &Units) -> i64 {
    let mut durations = units.durations();
    durations.sort_unstable();
    durations.get(durations.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// The chosen units, and others that a user can choose.
fn offers(tables: &Frames, search: &UnitSearch<'_>, chosen: Units) -> Result<Vec<Units>> {
    let auto = search.find(&UnitChoice::Auto)?;
    // Those that a user chooses are in the units with the strongest evidence.
    let layers =
        layers_as_units(&if tables.unit().is_auto() { chosen.layers.clone() } else { search.layers(&auto)? });
    let mut offers = Vec::new();
    let mut add = |units: Units| {
        let is_new = |other: &Units| other.unit != units.unit || other.name != units.name;
        let is_other = |other: &Units| is_new(other) && other.all != units.all;
        if !units.all.is_empty() && offers.iter().all(is_other) {
            offers.push(units);
        }
    };
    add(chosen);
    add(layers);
    for choice in [UnitChoice::Step, UnitChoice::Replay] {
        add(search.find(&choice)?.units);
    }
    // Repetitions that are layers, or two of them, are no iterations.
    if !auto.has_layers {
        add(search.find(&UnitChoice::Iteration)?.units);
    }
    for units in of_ranges(tables, search)? {
        add(units);
    }
    Ok(offers)
}

/// Ranges that come again, those with the most kernel time first.
fn of_ranges(tables: &Frames, search: &UnitSearch<'_>) -> Result<Vec<Units>> {
    let Some(ranges) = MarkedRanges::find(tables, &|_| true)? else { return Ok(Vec::new()) };
    let (least, most) = search.facts.listed_ranges();
    let all_ns = search.kernels.total_ns();
    let mut names: Vec<(String, usize, i64)> =
        ranges.names().into_iter().map(|(name, (count, length_ns))| (name, count, length_ns)).collect();
    names.retain(|(_, count, _)| *count >= least);
    names.sort_by_key(|(_, _, length_ns)| std::cmp::Reverse(*length_ns));
    names.truncate(MOST_LOOKED_UP);
    let mut found: Vec<Units> = names
        .into_iter()
        .map(|(name, ..)| search.of_ranges(ranges.times_ns(&|text| is_named(text, &name)), name))
        .filter(|units| units.all.len() >= least && search.facts.are_parts(units.kernel_ns(), all_ns))
        .collect();
    found.sort_by_key(|units| std::cmp::Reverse(units.kernel_ns()));
    found.truncate(most);
    Ok(found)
}
