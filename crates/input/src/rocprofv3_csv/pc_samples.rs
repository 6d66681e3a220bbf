//! `pc_samples` from both kinds of program counter sampling.

use anyhow::Result;
use polars::prelude::*;

use super::columns::Col;
use super::fields::{Fields, Need, Plan, every, nothing};
use super::kinds::Kind;
use super::reading::{Reading, zero_as_null};
use crate::common::{or_else, zeros};

const NUMBERS: &[Need] = &[
    (Col::Time, &["time_ns"]),
    (Col::Dispatch, &["dispatch_id"]),
    (Col::ExecMask, &["exec_mask"]),
    (Col::Issued, &["wave_issued"]),
];
const TEXTS: &[Need] = &[
    (Col::Instruction, &["instruction"]),
    (Col::Comment, &["comment"]),
    (Col::InstructionType, &["instruction_type"]),
    (Col::StallReason, &["stall_reason"]),
];

/// Assembles the samples in the order of the files.
pub fn read(reading: &mut Reading<'_>) -> Result<()> {
    let plan = Plan { kind: Kind::PcSamples, numbers: NUMBERS, texts: TEXTS, keep: every, mark: nothing, always: &[] };
    let rows = Fields::read(reading, &plan)?;
    reading.builder.set_height(rows.height);
    reading.put("time_ns", or_else(&rows.get(Col::Time), &zeros(rows.height)));
    reading.put("dispatch_id", zero_as_null(&rows.get(Col::Dispatch)));
    let issued: BooleanChunked =
        rows.get(Col::Issued).iter().map(|issued| issued.map(|issued| issued != 0)).collect_ca("".into());
    reading.builder.put("wave_issued", issued.into_series());
    reading.builder.put_with("exec_mask", || {
        let masks = rows.get(Col::ExecMask);
        let masks = masks.iter().map(|mask| mask.map(|mask| format!("0x{mask:016x}")));
        Ok(StringChunked::from_iter_options("".into(), masks).into_series().into_column())
    })?;
    for (name, column) in [("instruction", Col::Instruction), ("comment", Col::Comment)] {
        reading.builder.put_with(name, || rows.words(column).texts(name))?;
    }
    for (name, column) in [("instruction_type", Col::InstructionType), ("stall_reason", Col::StallReason)] {
        reading.builder.put_with(name, || rows.words(column).categories(name))?;
    }
    Ok(())
}
