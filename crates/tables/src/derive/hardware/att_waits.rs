//! The table `att_waits`: memory operations that the waits of a thread trace waited for.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{categories, dictionary_column, integers};
use crate::columns::values::FrameValues;
use crate::derive::{Build, DerivedTable, Frames, Needs, RowsWhen, needed};
use wavesieve_model::analysis::instructions::{Instruction, InstructionRules, Unattributed, attribute, part_of};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows_when: RowsWhen::all(&["att_instructions"]).if_found(),
    ..DerivedTable::new(&tables::instructions::ATT_WAITS, needs, Build::Alone(build))
};

fn needs() -> Needs {
    let columns = vec![
        "code_object_id",
        "hitcount",
        "instruction",
        "kernel_id",
        "latency_cycles",
        "ordinal",
        "stall_cycles",
        "vaddr",
    ];
    vec![("att_instructions", columns)]
}

/// Splits the waits of a thread trace.
fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    let rows = needed(tables, "att_instructions")?.sort(["ordinal"], SortMultipleOptions::default())?;
    let [ordinals, kernels, objects, addresses, hits, latencies, stalls] = rows.integers([
        "ordinal",
        "kernel_id",
        "code_object_id",
        "vaddr",
        "hitcount",
        "latency_cycles",
        "stall_cycles",
    ])?;
    let listing: Vec<Instruction<'_>> = rows
        .column("instruction")?
        .str()?
        .iter()
        .enumerate()
        .map(|(row, text)| Instruction {
            text: text.unwrap_or_default(),
            place: objects.get(row).zip(addresses.get(row)),
            kernel: kernels.get(row),
            hits: hits.get(row).unwrap_or(0),
        })
        .collect();
    let parts = attribute(&listing, InstructionRules::builtin());

    let mut columns: [Vec<Option<i64>>; 7] = Default::default();
    for parts in parts.chunk_by(|one, other| one.wait == other.wait) {
        for (at, part) in parts.iter().enumerate() {
            let count = i64::try_from(parts.len()).unwrap_or(i64::MAX);
            let values = [
                ordinals.get(part.wait),
                Some(i64::try_from(at).unwrap_or(i64::MAX).saturating_add(1)),
                kernels.get(part.wait),
                part.operation.ok().and_then(|operation| ordinals.get(operation)),
                Some(count),
                latencies.get(part.wait).map(|total| part_of(total, parts.len(), at)),
                stalls.get(part.wait).map(|total| part_of(total, parts.len(), at)),
            ];
            columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        }
    }
    let names = ["wait_ordinal", "part", "kernel_id", "operation_ordinal", "parts", "latency_cycles", "stall_cycles"];
    let numbers = names.into_iter().zip(columns).map(|(name, values)| integers(name, values.into_iter()));
    let mut columns: Vec<Column> = numbers.collect();
    columns.push(categories("counter", parts.iter().map(|part| part.counter.as_deref()))?);
    let place = |reason: Unattributed| REASONS.iter().position(|known| *known == reason);
    let codes = parts.iter().map(|part| part.operation.err().and_then(place));
    columns.push(dictionary_column("reason", &REASONS.map(Unattributed::name), codes)?);
    Ok(DataFrame::new(parts.len(), columns)?)
}

const REASONS: [Unattributed; 5] = [
    Unattributed::OtherPath,
    Unattributed::AnyOrder,
    Unattributed::NothingInFlight,
    Unattributed::OtherReason,
    Unattributed::UnknownBranch,
];
