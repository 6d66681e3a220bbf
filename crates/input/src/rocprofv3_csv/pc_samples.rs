//! `pc_samples` from both kinds of PC sampling.

use anyhow::Result;
use polars::prelude::*;

use super::columns::Col;
use super::fields::Plan;
use super::kinds::RecordKind;
use super::reading::Reading;
use crate::common::{Rule, Source};

const LAYOUT: &[Source<Col>] = &[
    (Col::Time, &["time_ns"], Rule::Copied),
    (Col::Dispatch, &["dispatch_id"], Rule::NotZero),
    (Col::ExecMask, &["exec_mask"], Rule::Used),
    (Col::Issued, &["wave_issued"], Rule::Used),
    (Col::Instruction, &["instruction"], Rule::Text),
    (Col::Comment, &["comment"], Rule::Text),
    (Col::InstructionType, &["instruction_type"], Rule::Category),
    (Col::StallReason, &["stall_reason"], Rule::Category),
];

/// Assembles the samples in the order of the files.
pub fn read(reading: &mut Reading<'_>) -> Result<()> {
    let rows = reading.rows(&Plan::new(RecordKind::PcSamples, LAYOUT, &[]))?;
    let issued: BooleanChunked =
        rows.get(Col::Issued).iter().map(|issued| issued.map(|issued| issued != 0)).collect_ca("".into());
    reading.builder.put("wave_issued", issued);
    reading.builder.put_with("exec_mask", || {
        let masks = rows.get(Col::ExecMask);
        let masks = masks.iter().map(|mask| mask.map(|mask| format!("0x{mask:016x}")));
        Ok(StringChunked::from_iter_options("".into(), masks).into_column())
    })
}
