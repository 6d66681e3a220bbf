//! Clocks of the compute units while kernels ran, if they were sampled.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::*;

use super::model::{Clock, KernelDigest};
use super::units::unit_at;
use wavesieve_tables::columns::values::I64Values;

/// Adds the sampled clocks of the kernels of each GPU to their digests.
pub(super) fn add_clocks<'a>(
    frame: &DataFrame,
    units: &[(i64, i64)],
    kernels: impl Iterator<Item = (i64, &'a mut KernelDigest)>,
) -> Result<()> {
    if frame.height() == 0 {
        return Ok(());
    }
    let (gpus, starts) = (I64Values::new(frame.column("gpu")?.i64()?), I64Values::new(frame.column("time_ns")?.i64()?));
    let lengths = I64Values::new(frame.column("took_ns")?.i64()?);
    let clocks = frame.column("clock_mhz")?.f64()?;
    let names = frame.column("kernel_name")?.cast(&DataType::String)?;
    let mut sums: BTreeMap<(i64, &str), [Clock; 2]> = BTreeMap::new();
    for (gpu, start, length, clock, name) in
        izip!(gpus.iter(), starts.iter(), lengths.iter(), clocks.iter(), names.str()?.iter())
    {
        let (Some(gpu), Some(start_ns), Some(length_ns), Some(clock_mhz)) = (gpu, start, length, clock) else {
            continue;
        };
        let [run, steady] = sums.entry((gpu, name.unwrap_or_default())).or_default();
        // A clock of 1 MHz makes one cycle in 1000 ns.
        let cycles = length_ns as f64 * clock_mhz / 1000.0;
        let add = |sum: &mut Clock| {
            sum.time_ns = sum.time_ns.saturating_add(length_ns);
            sum.cycles += cycles;
        };
        add(run);
        if unit_at(units, start_ns).is_some() {
            add(steady);
        }
    }
    for (gpu, kernel) in kernels {
        if let Some([run, steady]) = sums.get(&(gpu, kernel.name.as_str())) {
            (kernel.run.clock, kernel.steady.clock) = (*run, *steady);
        }
    }
    Ok(())
}
