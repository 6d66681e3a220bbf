//! `kernels`, `counter_dispatches` and `kernel_symbols`.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use super::survey::{Kernel, Run, Survey};
use crate::common::{SymbolNames, TableBuilder, or, placeholder};
use wavesieve_tables::columns::frames::dictionary_column;

const NAMES: &[&str] = &["kernel_name", "short_name", "category"];

/// The first recorded run of each dispatch.
fn first_runs(survey: &Survey) -> Vec<&Run> {
    let mut first: BTreeMap<i64, &Run> = BTreeMap::new();
    for run in &survey.runs {
        let known = first.entry(run.dispatch).or_insert(run);
        if run.pass < known.pass {
            *known = run;
        }
    }
    first.into_values().collect()
}

/// Number of dispatches.
pub fn count(survey: &Survey) -> u64 {
    first_runs(survey).len() as u64
}

/// Assembles `kernels`: every dispatch as it ran in its first pass.
pub(crate) fn read_kernels(builder: &mut TableBuilder<'_>, survey: &Survey) -> Result<()> {
    put(builder, survey, &first_runs(survey))
}

/// Assembles `counter_dispatches`: every dispatch as it ran in each pass.
pub(crate) fn read_counter_dispatches(builder: &mut TableBuilder<'_>, survey: &Survey) -> Result<()> {
    let mut runs: Vec<&Run> = survey.runs.iter().collect();
    runs.sort_by_key(|run| (run.pass, run.dispatch));
    let first_pass = builder.context.process.pass;
    builder.put_integers("pass", runs.iter().map(|run| Some(first_pass.saturating_add(run.pass))));
    put(builder, survey, &runs)
}

fn put(builder: &mut TableBuilder<'_>, survey: &Survey, runs: &[&Run]) -> Result<()> {
    builder.set_height(runs.len());
    let column = |value: &dyn Fn(&Run) -> Option<i64>| -> Int64Chunked {
        Int64Chunked::from_iter_options("".into(), runs.iter().map(|run| value(run)))
    };
    let size = |at: usize| move |run: &Run| run.sizes.get(at).copied().flatten();
    let ids = column(&|run| Some(run.dispatch));
    builder.put("dispatch_id", ids.clone());
    let kernel_id = |run: &Run| survey.kernels.get(run.kernel).map(|kernel| kernel.id);
    builder.put("kernel_id", column(&kernel_id));
    if builder.wants(NAMES) {
        let forms = names(survey).forms(builder.context.categories, &|_| true);
        for (name, values) in forms.dispatch_columns() {
            let codes = runs.iter().map(|run| Some(run.kernel));
            builder.put_with(name, || Ok(dictionary_column(name, values, codes)?))?;
        }
    }
    let agents = column(&|run| run.gpu);
    builder.put_gpu(&agents, &ids);
    builder.put("agent_id", agents);
    // Only the number of work-items is recorded; it is written to x.
    for (name, at) in [("grid_x", 0), ("workgroup_x", 1)] {
        builder.put(name, or(&column(&size(at)), 0));
    }
    for name in ["grid_y", "grid_z", "workgroup_y", "workgroup_z"] {
        builder.put(name, column(&|_| Some(1)));
    }
    builder.put("lds_bytes", column(&size(2)));
    builder.put("scratch_bytes", column(&size(3)));
    builder.put_times(&column(&|run| run.start_ns), &column(&|run| run.end_ns));
    Ok(())
}

fn names(survey: &Survey) -> SymbolNames {
    let name = |kernel: &Kernel| kernel.name.clone().unwrap_or_else(|| placeholder(kernel.id));
    survey.kernels.iter().map(name).collect()
}

/// Assembles `kernel_symbols`.
pub(crate) fn read_symbols(builder: &mut TableBuilder<'_>, survey: &Survey) -> Result<()> {
    builder.set_height(survey.kernels.len());
    builder.put_integers("kernel_id", survey.kernels.iter().map(|kernel| Some(kernel.id)));
    builder.put_symbol_names(&names(survey))?;
    let numbers = ["vgpr", "accum_vgpr", "sgpr", "lds_static_bytes", "scratch_static_bytes"];
    for (at, name) in numbers.into_iter().enumerate() {
        builder.put_integers(name, survey.kernels.iter().map(|kernel| kernel.numbers.get(at).copied().flatten()));
    }
    Ok(())
}
