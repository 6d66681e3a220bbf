//! The table `programs`: which processes are ranks of one program, and which are other programs next to it.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::integers;
use crate::columns::values::FrameValues;
use crate::derive::{Build, DerivedTable, Frames, Joint, Needs, ProcessPart, Rows, RowsWhen, column, needed};
use wavesieve_model::analysis::categories::COMMUNICATION;
use wavesieve_model::analysis::programs::{Program, Traced, programs};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows: Rows::Descriptions,
    rows_when: RowsWhen::all(&["kernels"]),
    ..DerivedTable::new(
        &tables::ranks::PROGRAMS,
        needs,
        Build::Joint(Joint {
            optional_needs: Vec::new,
            extract: |_, tables, _, _| extract(tables),
            relate: |parts, _| relate(parts),
            keep: |_| None,
        }),
    )
};

fn needs() -> Needs {
    vec![("kernels", vec!["kernel_name", "category", "start_ns", "end_ns", "duration_ns", "valid"])]
}

/// The kernels of a process by name, with their time.
fn extract(tables: &Frames) -> Result<DataFrame> {
    let text = |name: &str| col(name).cast(DataType::String);
    let kernels = needed(tables, "kernels")?.clone().lazy().filter(col("valid"));
    let by_name = kernels.group_by([text("kernel_name")]).agg([
        text("category").eq(lit(COMMUNICATION)).any(true).alias("communicates"),
        col("duration_ns").sum(),
        col("start_ns").min(),
        col("end_ns").max(),
    ]);
    Ok(by_name.sort(["kernel_name"], SortMultipleOptions::default()).collect()?)
}

fn relate(parts: &[ProcessPart<'_>]) -> Result<Vec<DataFrame>> {
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    let processes: Vec<Traced> =
        parts.iter().map(|(process, kernels)| traced(process, kernels, &mut numbers)).collect::<Result<_>>()?;
    programs(&processes).into_iter().map(row).collect()
}

fn row(program: Program) -> Result<DataFrame> {
    Ok(DataFrame::new_infer_height(vec![
        integers("program", std::iter::once(program.number)),
        column("processes", vec![program.processes]),
        Column::new("compared".into(), vec![program.is_compared]),
    ])?)
}

fn traced(process: &Process, kernels: &DataFrame, numbers: &mut BTreeMap<String, u32>) -> Result<Traced> {
    let (names, communicates) = (kernels.column("kernel_name")?.str()?, kernels.column("communicates")?.bool()?);
    let mut times: BTreeMap<u32, i64> = BTreeMap::new();
    for (name, ns) in names.iter().zip(kernels.integer("duration_ns")?.iter()) {
        let next = numbers.len() as u32;
        let number = *numbers.entry(name.unwrap_or_default().to_owned()).or_insert(next);
        times.insert(number, ns.unwrap_or_default());
    }
    let starts = kernels.integer("start_ns")?;
    let ends = kernels.integer("end_ns")?;
    let offset_ns = process.clock.offset_ns;
    let span = starts.iter().flatten().min().zip(ends.iter().flatten().max());
    Ok(Traced {
        command: process.facts.command.clone(),
        clock: process.clock.number,
        span: span.map(|(start, end)| (start.saturating_add(offset_ns), end.saturating_add(offset_ns))),
        kernels: times,
        communicates: communicates.any(),
    })
}
