//! Operations on memory of one process, paired by address.

use anyhow::Result;
use itertools::izip;
use polars::prelude::*;

use crate::columns::frames::rows_named;
use crate::columns::values::{BoolValues, FrameValues, I64Values};
use wavesieve_model::analysis::allocations::{Action, AllocationEnd, Level, Operation, pair};

/// Levels of memory that are paired; each has its own addresses. Scratch memory has no addresses.
const LEVELS: [&str; 2] = ["REAL", "VIRTUAL"];

/// An allocation or a release, with its row in the table.
pub(crate) struct PairedOperation {
    /// Row in `memory_allocations`.
    pub row: u32,
    pub operation: Operation,
    /// Fate of its memory; operations are numbered as in the list.
    pub fate: AllocationEnd,
}

/// All operations of each level, and the live memory after each, with the operation and the kind of memory.
pub struct Memory {
    pub levels: Vec<(&'static str, Vec<PairedOperation>, Vec<Level>)>,
}

/// Pairs the valid operations.
pub fn paired(allocations: &DataFrame) -> Result<Memory> {
    let valid = allocations.truths("valid")?;
    let (addresses, bytes) = (integers(allocations, "address")?, integers(allocations, "bytes")?);
    let (starts, ends) = (integers(allocations, "start_ns")?, integers(allocations, "end_ns")?);
    let (gpus, stated) = (integers(allocations, "gpu")?, integers(allocations, "live_bytes")?);
    let actions = [("ALLOC", Action::Allocate), ("REALLOC", Action::Reallocate), ("FREE", Action::Free)];
    let mut action_of: Vec<Option<Action>> = vec![None; allocations.height()];
    for (word, action) in actions {
        let rows = BoolValues::new(&rows_named(allocations.column("operation")?, |name| name == word)?);
        for (slot, _) in action_of.iter_mut().zip(rows.iter()).filter(|(_, is)| *is == Some(true)) {
            *slot = Some(action);
        }
    }
    let mut levels = Vec::new();
    for level in LEVELS {
        let of_level = BoolValues::new(&rows_named(allocations.column("level")?, |name| name == level)?);
        let kinds = izip!(&action_of, valid.iter(), of_level.iter());
        let what = izip!(starts.iter(), ends.iter(), addresses.iter(), bytes.iter(), gpus.iter(), stated.iter());
        let mut numbers = Vec::new();
        let mut operations = Vec::new();
        for (row, (action, valid, of_level), (start, end, address, bytes, place, live_bytes)) in
            izip!(0_u32.., kinds, what)
        {
            let (Some(action), Some(true), Some(true), Some(start), Some(end)) = (action, valid, of_level, start, end)
            else {
                continue;
            };
            let time_ns = if *action == Action::Free { start } else { end };
            numbers.push(row);
            let bytes = bytes.unwrap_or(0).max(0);
            operations.push(Operation { action: *action, address, bytes, place, time_ns, live_bytes });
        }
        let pairing = pair(&operations);
        let list = numbers.into_iter().zip(operations).zip(pairing.ends);
        let list = list.map(|((row, operation), fate)| PairedOperation { row, operation, fate }).collect();
        levels.push((level, list, pairing.levels));
    }
    Ok(Memory { levels })
}

fn integers(frame: &DataFrame, name: &str) -> Result<I64Values> {
    Ok(frame.integer(name)?)
}
