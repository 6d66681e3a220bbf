//! The table `operators`: operators and modules of PyTorch with the work launched in them.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{constant_cat, dictionary_column, integers, rows_named, text_column_from_dictionary};
use crate::derive::ranging::range_forest::{self, Range, RangeForest, own_times};
use crate::derive::{Build, DerivedTable, Frames, Needs, Rows, RowsWhen, WhyEmpty, column, needed};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows: Rows::Events,
    rows_when: RowsWhen::all(&["regions"]).if_found(),
    why_empty: WhyEmpty::Because(
        "no operator was recorded; the PyTorch profiler records them with ProfilerActivity.CPU",
    ),
    ..DerivedTable::new(&tables::ranging::OPERATORS, needs, Build::Alone(build))
};

/// The columns that ranges need, and the ids by which work names its operator.
fn needs() -> Needs {
    let mut needs = range_forest::needs();
    for (table, columns) in &mut needs {
        if matches!(*table, "regions" | "kernels") {
            columns.push("external_id");
        }
    }
    needs
}

/// The kind of modules.
const MODULE_KIND: &str = "module";
/// Prefix of the names of Python functions that are modules.
const MODULE: &str = "nn.Module: ";

/// Builds the operators, and separately the modules, which only the option `with_stack` records.
fn build(_process: &Process, frames: &Frames) -> Result<DataFrame> {
    let operators =
        table(frames, "operator", &|regions| Ok(rows_named(regions.column("domain")?, |name| name == "torch")?))?;
    let modules = table(frames, MODULE_KIND, &|regions| {
        let python = rows_named(regions.column("domain")?, |domain| domain == "python")?;
        Ok(&python & &rows_named(regions.column("name")?, |name| name.starts_with(MODULE))?)
    })?;
    let all = operators.vstack(&modules)?;
    Ok(all.sort(["start_ns", "operator_id"], SortMultipleOptions::default())?)
}

/// Nested rows of the chosen regions: each with the work launched in it, with and without nested regions.
fn table(frames: &Frames, kind: &str, choose: &dyn Fn(&DataFrame) -> Result<BooleanChunked>) -> Result<DataFrame> {
    let chosen = choose(needed(frames, "regions")?)?;
    let mut forest = match kind {
        MODULE_KIND => RangeForest::of_modules(frames, &chosen)?,
        _ => RangeForest::of_operators(frames, &chosen)?,
    };
    let own: Vec<_> = forest.ranges.iter().map(|range| range.work).collect();
    let self_ns = own_times(&forest.ranges)?;
    forest.add_up();
    let RangeForest { ranges, messages, paths, .. } = &forest;
    let whole = |name, value: &dyn Fn(&Range) -> i64| column(name, ranges.iter().map(value).collect());
    let parent = |range: &Range| Some(ranges.get(range.parent? as usize)?.region_id);
    let name = |text: &Option<String>| text.as_deref().map(|text| text.strip_prefix(MODULE).unwrap_or(text).to_owned());
    let names: Vec<Option<String>> = messages.iter().map(name).collect();
    let places = |number: fn(&Range) -> u32| ranges.iter().map(move |range| Some(number(range) as usize));
    Ok(DataFrame::new_infer_height(vec![
        whole("operator_id", &|range| range.region_id),
        constant_cat("kind", Some(kind), ranges.len())?,
        dictionary_column("name", &names, places(|range| range.message))?,
        text_column_from_dictionary("path", paths, places(|range| range.path))?,
        whole("depth", &|range| range.depth),
        integers("parent_id", ranges.iter().map(parent)),
        integers("tid", ranges.iter().map(|range| range.tid)),
        whole("start_ns", &|range| range.extent.start_ns),
        whole("end_ns", &|range| range.extent.end_ns),
        whole("duration_ns", &|range| range.extent.end_ns.saturating_sub(range.extent.start_ns)),
        column("self_ns", self_ns),
        whole("kernels", &|range| range.work.kernels),
        whole("kernel_ns", &|range| range.work.kernel_ns),
        whole("copy_ns", &|range| range.work.copy_ns),
        column("self_kernels", own.iter().map(|work| work.kernels).collect()),
        column("self_kernel_ns", own.iter().map(|work| work.kernel_ns).collect()),
        column("self_copy_ns", own.iter().map(|work| work.copy_ns).collect()),
    ])?)
}
