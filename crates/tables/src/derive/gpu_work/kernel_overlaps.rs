//! The table `kernel_overlaps`: times at which kernels of each category ran, alone and together.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use polars::prelude::*;
use rayon::prelude::*;

use crate::columns::frames::dictionary_column;
use crate::columns::values::FrameValues;
use crate::derive::{Build, DerivedTable, Frames, Needs, RowsWhen, WhyEmpty, column, gpu_columns, needed};
use wavesieve_model::analysis::gpu_time::category_overlaps::{CategoryWork, Overlap, each_overlap};
use wavesieve_model::analysis::intervals::Interval;
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows_when: RowsWhen::all(&["kernels"]).if_found(),
    why_empty: WhyEmpty::AllIsWell,
    ..DerivedTable::new(&tables::idling::KERNEL_OVERLAPS, needs, Build::Alone(build))
};

fn needs() -> Needs {
    vec![("kernels", vec!["category", "gpu", "start_ns", "end_ns", "valid"])]
}

/// Sweeps over the kernels of each GPU.
fn build(process: &Process, tables: &Frames) -> Result<DataFrame> {
    let kernels = needed(tables, "kernels")?;
    let categories = Categories::from_column(kernels.column("category")?)?;
    let mut by_gpu: BTreeMap<i64, Vec<CategoryWork>> = BTreeMap::new();
    for (row, [gpu, start_ns, end_ns]) in kernels.valid_rows(["gpu", "start_ns", "end_ns"])? {
        let category = categories.of_rows.get(row as usize).copied().unwrap_or_default();
        by_gpu.entry(gpu).or_default().push(CategoryWork { time: Interval::new(start_ns, end_ns), category });
    }
    let swept: Vec<(i64, Vec<Overlap>)> = by_gpu.into_par_iter().map(|(gpu, work)| (gpu, overlaps(work))).collect();
    let [gpu, device] = gpu_columns(process, swept.iter().map(|(gpu, overlaps)| (*gpu, overlaps.len())));
    let all = || swept.iter().flat_map(|(_, overlaps)| overlaps);
    let place = |category: u32| Some(category as usize);
    Ok(DataFrame::new_infer_height(vec![
        gpu,
        device,
        dictionary_column("category", &categories.names, all().map(|overlap| place(overlap.category)))?,
        dictionary_column("other_category", &categories.names, all().map(|overlap| overlap.other.and_then(place)))?,
        column("start_ns", all().map(|overlap| overlap.time.start_ns).collect()),
        column("end_ns", all().map(|overlap| overlap.time.end_ns).collect()),
        column("duration_ns", all().map(|overlap| overlap.time.length_ns()).collect()),
    ])?)
}

fn overlaps(mut work: Vec<CategoryWork>) -> Vec<Overlap> {
    if !work.is_sorted_by_key(|kernel| kernel.time.start_ns) {
        work.sort_by_key(|kernel| kernel.time.start_ns);
    }
    let mut overlaps = Vec::new();
    each_overlap(&work, |overlap| overlaps.push(overlap));
    overlaps.par_sort_unstable();
    overlaps
}

/// The categories that occur, numbered alphabetically.
struct Categories {
    names: Vec<Option<String>>,
    of_rows: Vec<u32>,
}

impl Categories {
    fn from_column(column: &Column) -> Result<Self> {
        let series = column.as_materialized_series();
        let texts = series.cat32()?;
        let mapping = texts.get_mapping();
        let mut codes: Vec<CatSize> = texts.physical().unique()?.iter().flatten().collect();
        codes.sort_by_key(|code| mapping.cat_to_str(*code));
        let numbers: BTreeMap<CatSize, u32> = codes.iter().copied().zip(0..).collect();
        let names = codes.iter().map(|code| mapping.cat_to_str(*code).map(str::to_owned)).collect();
        let mut last = (CatSize::MAX, None);
        let mut number = |code: Option<CatSize>| {
            let code = code?;
            if last.0 != code {
                last = (code, numbers.get(&code).copied());
            }
            last.1
        };
        let of_rows = texts.physical().iter().map(&mut number).collect::<Option<_>>();
        Ok(Self { names, of_rows: of_rows.context("internal: a kernel without category")? })
    }
}
