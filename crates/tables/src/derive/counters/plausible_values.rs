//! Keeps plausible values of counters. Other values become null, and a column records the reason for each dispatch.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{floats, texts};
use crate::derive::counters::counted_dispatches::numbered_texts;
use crate::derive::counters::joined_passes::DURATION;
use wavesieve_model::analysis::hardware::implausible::{Cycles, cycles_of, dead_counters};

/// Name of the column with the reason why values of a counter were excluded: a text or null for each dispatch.
pub fn why(counter: &str) -> PlSmallStr {
    format!("why not {counter}").into()
}

/// Joined dispatches of one GPU without implausible values: counters whose block did not count, and counters with more cycles than the
/// highest clock allows. Counters of one die are scaled to all dies.
///
/// # Errors
/// When the frame lacks a column, which is a defect.
pub(crate) fn plausible(frame: DataFrame, constants: &BTreeMap<String, f64>) -> Result<DataFrame> {
    let mut frame = without_dead_counters(frame)?;
    let Some(clock_ghz) = constants.get("sclk_mhz").map(|mhz| mhz / 1000.0).filter(|clock| *clock > 0.0) else {
        return Ok(frame);
    };
    let times = KernelTimes::new(&frame)?;
    let names: Vec<(PlSmallStr, Cycles)> = frame
        .columns()
        .iter()
        .filter(|column| *column.dtype() == DataType::Float64)
        .filter_map(|column| Some((column.name().clone(), cycles_of(column.name())?)))
        .collect();
    let dies = constants.get("num_xcd").copied().filter(|dies| *dies > 1.0);
    let of_one_die = dies.map_or(Ok(false), |dies| times.are_of_one_die(&frame, clock_ghz, dies))?;
    for (name, cycles) in names {
        let instances = cycles.instances.map_or(Some(1.0), |constant| constants.get(constant).copied());
        let Some(instances) = instances else { continue };
        let values = frame.column(&name)?.f64()?.rechunk().into_owned();
        if cycles.is_of_dies && of_one_die {
            frame.with_column((values * instances).with_name(name).into_series().into_column())?;
            continue;
        }
        let above = times.above(&values, clock_ghz * instances);
        if above.is_empty() {
            continue;
        }
        let reason = format!(
            "{name} counts more cycles than the highest clock, {:.0} MHz, has in the duration of its dispatches",
            clock_ghz * 1000.0
        );
        let is_above = |row: usize| times.kernel_of.get(row).is_some_and(|kernel| above.contains(kernel));
        let kept = values.iter().enumerate().map(|(row, value)| value.filter(|_| !is_above(row)));
        frame.with_column(floats(&name, kept))?;
        let reasons = (0..values.len()).map(|row| is_above(row).then_some(reason.as_str()));
        frame.with_column(texts(&why(&name), reasons))?;
    }
    Ok(frame)
}

/// Dispatches of one GPU without the values of counters whose block did not count.
fn without_dead_counters(mut frame: DataFrame) -> Result<DataFrame> {
    let columns = frame.columns().iter().filter(|column| *column.dtype() == DataType::Float64);
    let mut all_zero: BTreeMap<&str, bool> = BTreeMap::new();
    for column in columns {
        let values = column.f64()?;
        if let (Some(least), Some(greatest)) = (values.min(), values.max()) {
            all_zero.insert(column.name().as_str(), least == 0.0 && greatest == 0.0);
        }
    }
    let dead: Vec<PlSmallStr> = dead_counters(&all_zero).into_iter().map(PlSmallStr::from_str).collect();
    for name in dead {
        frame.with_column(Column::full_null(name, frame.height(), &DataType::Float64))?;
    }
    Ok(frame)
}

/// Time by which the counted cycles of a dispatch may exceed its recorded duration: counters run from before the first packet until after
/// the last, and real profiles of dispatches of 1 µs count the cycles of 100 µs.
const OUTSIDE_NS: f64 = 1_000_000.0;

/// Factor by which counted cycles may exceed the clock: profiles that record one die have the sum of eight, and clocks are given in steps.
const TOLERANCE: f64 = 16.0;

/// A die at less than this share of its highest clock is idle.
const LEAST_CLOCK: f64 = 0.25;

/// Counters of GRBM that count continuously while a kernel runs.
const CYCLES_THAT_GO_BY: [&str; 2] = ["GRBM_GUI_ACTIVE", "GRBM_COUNT"];

/// Durations and kernels of the dispatches of a GPU.
struct KernelTimes {
    kernel_of: Vec<Option<u32>>,
    durations: Float64Chunked,
}

impl KernelTimes {
    fn new(frame: &DataFrame) -> Result<Self> {
        let (kernel_of, _) = numbered_texts(frame.column("kernel_name")?)?;
        Ok(Self { kernel_of, durations: frame.column(DURATION)?.f64()?.rechunk().into_owned() })
    }

    /// The kernels that count more cycles than `cycles_per_ns` allows.
    fn above(&self, values: &Float64Chunked, cycles_per_ns: f64) -> BTreeSet<Option<u32>> {
        let mut sums: BTreeMap<Option<u32>, (f64, f64)> = BTreeMap::new();
        for (kernel, (value, duration)) in self.kernel_of.iter().zip(values.iter().zip(self.durations.iter())) {
            if let (Some(value), Some(duration)) = (value, duration) {
                let (counted, allowed) = sums.entry(*kernel).or_default();
                *counted += value;
                *allowed += (duration + OUTSIDE_NS) * cycles_per_ns * TOLERANCE;
            }
        }
        sums.into_iter().filter(|(_, (counted, allowed))| counted > allowed).map(|(kernel, _)| kernel).collect()
    }

    /// Whether counters that should be sums over all dies are counts of one die. As a sum, the cycles that pass while a kernel runs would
    /// make every die nearly idle, and they are within the clock of a single die.
    fn are_of_one_die(&self, frame: &DataFrame, clock_ghz: f64, dies: f64) -> Result<bool> {
        for counter in CYCLES_THAT_GO_BY {
            let Ok(column) = frame.column(counter) else { continue };
            let known = column.f64()?.iter().zip(self.durations.iter());
            let known = known.filter_map(|(value, duration)| value.zip(duration));
            let (counted, took_ns) =
                known.fold((0.0, 0.0), |(counted, took), (value, ns)| (counted + value, took + ns));
            let of_one_ghz = counted / took_ns;
            if counted > 0.0 && took_ns > 0.0 {
                return Ok(of_one_ghz <= clock_ghz && of_one_ghz / dies < clock_ghz * LEAST_CLOCK);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constants() -> BTreeMap<String, f64> {
        [("sclk_mhz", 2000.0), ("num_xcd", 8.0), ("num_cu", 304.0)].map(|(name, value)| (name.to_owned(), value)).into()
    }

    fn of(counter: &str, values: &[f64]) -> DataFrame {
        let names: Vec<&str> = ["long", "short"].into_iter().take(values.len()).collect();
        let durations: Vec<f64> = [1_000_000.0, 5_000.0].into_iter().take(values.len()).collect();
        df!("kernel_name" => names, DURATION => durations, counter => values).unwrap()
    }

    fn values(frame: DataFrame, counter: &str) -> Vec<Option<f64>> {
        plausible(frame, &constants()).unwrap().column(counter).unwrap().f64().unwrap().iter().collect()
    }

    #[test]
    fn cycles_above_the_clock_are_no_values() {
        let sum = 8.0 * 1_900_000.0;
        assert_eq!(values(of("GRBM_GUI_ACTIVE", &[sum, 300_000.0]), "GRBM_GUI_ACTIVE"), [Some(sum), Some(300_000.0)]);
        let frame = plausible(of("GRBM_GUI_ACTIVE", &[sum * 100.0, 300_000.0]), &constants()).unwrap();
        assert_eq!(
            frame.column("GRBM_GUI_ACTIVE").unwrap().f64().unwrap().iter().collect::<Vec<_>>(),
            [None, Some(300_000.0)]
        );
        let reasons = frame.column(&why("GRBM_GUI_ACTIVE")).unwrap();
        assert!(reasons.str().unwrap().get(0).unwrap().contains("2000 MHz"));
        assert_eq!(reasons.str().unwrap().get(1), None);
        // One instance counts no more than the clock.
        assert_eq!(values(of("max_inst(GRBM_COUNT)", &[400_000_000.0]), "max_inst(GRBM_COUNT)"), [None]);
        // Counts of other things have no clock.
        assert_eq!(values(of("SQ_INSTS_VALU", &[1e15]), "SQ_INSTS_VALU"), [Some(1e15)]);
    }

    #[test]
    fn cycles_of_one_die_are_those_of_all() {
        assert_eq!(values(of("GRBM_GUI_ACTIVE", &[1_700_000.0]), "GRBM_GUI_ACTIVE"), [Some(8.0 * 1_700_000.0)]);
        // As a sum over dies, each runs at 1 GHz.
        assert_eq!(values(of("GRBM_GUI_ACTIVE", &[8_000_000.0]), "GRBM_GUI_ACTIVE"), [Some(8_000_000.0)]);
        assert_eq!(values(of("SQ_BUSY_CU_CYCLES", &[1_000.0]), "SQ_BUSY_CU_CYCLES"), [Some(1_000.0)]);
        // A unit that is rarely busy proves nothing.
        assert_eq!(values(of("GRBM_EA_BUSY", &[1_000.0]), "GRBM_EA_BUSY"), [Some(1_000.0)]);
    }
}
