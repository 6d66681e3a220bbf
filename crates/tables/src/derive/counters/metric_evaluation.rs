//! Values of metrics, kernel by kernel, for dispatches with their counters.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use crate::derive::counters::compiled_formula::compiled;
use crate::derive::counters::counted_dispatches::numbered_texts;
use crate::derive::counters::joined_passes::DURATION;
use crate::derive::counters::pass_agreement::{DISAGREEMENT, group_of};
use crate::derive::counters::plausible_values::why;
use wavesieve_model::analysis::hardware::devices::Device;
use wavesieve_model::analysis::hardware::implausible::{is_possible_share, is_share};
use wavesieve_model::analysis::hardware::metrics::{
    Bound, Counter, Definitions, Known, Metric, Normalization, bind, constant,
};

/// A requested metric, and its formula over the available counters.
pub struct BoundMetric {
    /// Its place among the definitions.
    pub metric: usize,
    /// The basis that it is normalized by, if one is chosen.
    pub per: Option<Normalization>,
    /// Its bound formula, or the reason why it cannot be computed.
    pub bound: Result<Bound, String>,
    /// The parts that the value lacks, if some counters could be left out.
    pub lacks: Option<String>,
    /// The highest value that the device allows.
    pub peak: Option<f64>,
    /// Its title, if it is a share of a whole, which cannot exceed 100%.
    pub share: Option<String>,
}

impl BoundMetric {
    /// The counters in its formula.
    fn counters(&self) -> Vec<String> {
        let Ok(bound) = &self.bound else { return Vec::new() };
        let all = bound.ratio.numerator.counters().into_iter().chain(bound.ratio.denominator.counters());
        let mut names: Vec<String> = all.map(|counter| counter.to_string()).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// Prefix of the reasons why a computed value does not count.
pub(crate) const IMPLAUSIBLE: &str = "implausible: ";

/// The `wanted` metrics of the architecture of a device, over dispatches with certain counters. Metrics with several bases are requested
/// once per basis.
pub(crate) fn all_asked(
    definitions: &Definitions,
    device: &Device,
    frame: &DataFrame,
    wanted: impl Fn(&Metric) -> bool,
) -> Vec<BoundMetric> {
    let has = |counter: &Counter| frame.column(&counter.to_string()).is_ok();
    let known = Known { definitions, architecture: &device.architecture, constants: &device.constants, has: &has };
    let mut asked = Vec::new();
    for (metric, definition) in definitions.metrics.iter().enumerate().filter(|(_, metric)| wanted(metric)) {
        let Some(on) = definition.on(&device.architecture) else { continue };
        let measured = definitions.measured.get(&definition.id).copied();
        let peak = measured.or_else(|| on.peak.as_ref().and_then(|peak| constant(peak, &known).ok()));
        // A derived counter that the profiler computed comes last, because the formula of the profiler may differ.
        let collected = definition.is_derived_counter().then(|| definition.collected());
        let share = || is_share(&definition.id).then(|| definition.title.clone());
        let one = |per: Option<Normalization>| {
            let denominator = per.and_then(|per| definitions.normalizations.get(per.name()));
            let missing = match bind(&on.formula, denominator, &known) {
                Ok(bound) => return BoundMetric { metric, per, bound: Ok(bound), lacks: None, peak, share: share() },
                Err(missing) => missing,
            };
            let mut others = on.instead.iter().chain(&collected);
            let (bound, lacks) = match others.find_map(|other| bind(other, denominator, &known).ok()) {
                Some(bound) => (Ok(bound), Some(format!("without counters or constants {}", missing.reason()))),
                None => (Err(missing.reason()), None),
            };
            BoundMetric { metric, per, bound, lacks, peak, share: share() }
        };
        if !on.is_normalized() {
            asked.push(one(None));
            continue;
        }
        let each: Vec<BoundMetric> = Normalization::ALL.into_iter().map(|per| one(Some(per))).collect();
        // A metric that lacks its own counters lacks them on any basis.
        match each.iter().all(|asked| asked.bound.is_err()) {
            true => asked.push(BoundMetric { per: None, ..one(Some(Normalization::Kernel)) }),
            false => asked.extend(each),
        }
    }
    asked
}

/// A metric over the dispatches of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Dispatches that have all of its counters.
    pub dispatches: i64,
    /// Sum of their numerators.
    pub numerator: f64,
    /// Sum of their denominators.
    pub denominator: f64,
    /// Dispatches that have a value, as their denominator is not 0.
    pub values: i64,
    /// Sum of those values.
    pub value_sum: f64,
    /// The smallest value.
    pub value_min: Option<f64>,
    /// The largest value.
    pub value_max: Option<f64>,
}

impl Sums {
    fn add(&mut self, numerator: f64, denominator: f64) {
        self.dispatches += 1;
        self.numerator += numerator;
        self.denominator += denominator;
        if denominator != 0.0 {
            let value = numerator / denominator;
            self.values += 1;
            self.value_sum += value;
            self.value_min = Some(self.value_min.map_or(value, |least| least.min(value)));
            self.value_max = Some(self.value_max.map_or(value, |greatest| greatest.max(value)));
        }
    }

    /// The ratio of the sums; `None` if the sum of the denominators is 0.
    pub fn ratio(&self) -> Option<f64> {
        (self.denominator != 0.0).then(|| self.numerator / self.denominator)
    }
}

/// A kernel and its requested sums.
pub struct KernelSums {
    /// Its first dispatch.
    pub row: usize,
    pub dispatches: i64,
    /// In the order of the requests, with the reason for a missing value.
    pub sums: Vec<(Sums, Option<String>)>,
}

/// Maximum memory of the numerators and denominators that are computed at once.
const AT_ONCE_BYTES: usize = 256 << 20;

/// Requested metrics for dispatches of one GPU, by the kernel that they run. The kernels are in the order of their first dispatch.
pub fn evaluated(frame: &DataFrame, asked: &[BoundMetric]) -> Result<Vec<KernelSums>> {
    let (mut kernels, kernel_of) = kernels(frame)?;
    let width = (AT_ONCE_BYTES / (frame.height().max(1) * 16)).clamp(1, 64);
    for chunk in asked.chunks(width) {
        let mut expressions = Vec::new();
        for (at, ratio) in
            chunk.iter().enumerate().filter_map(|(at, asked)| Some((at, &asked.bound.as_ref().ok()?.ratio)))
        {
            expressions.push(compiled(&ratio.numerator).cast(DataType::Float64).alias(format!("n{at}")));
            // A number by itself would be one row.
            if ratio.denominator.value().is_none() {
                expressions.push(compiled(&ratio.denominator).cast(DataType::Float64).alias(format!("d{at}")));
            }
        }
        let values = match expressions.is_empty() {
            true => DataFrame::empty(),
            false => frame.clone().lazy().select(expressions).collect()?,
        };
        for (at, asked) in chunk.iter().enumerate() {
            let mut sums = vec![Sums::default(); kernels.len()];
            if let Ok(bound) = &asked.bound {
                let numerators = column(&values, &format!("n{at}"), bound.ratio.numerator.value(), frame.height())?;
                let denominators = column(&values, &format!("d{at}"), bound.ratio.denominator.value(), frame.height())?;
                let mixed = mixed(frame, &asked.counters())?;
                for (row, ((numerator, denominator), kernel)) in
                    numerators.iter().zip(denominators.iter()).zip(&kernel_of).enumerate()
                {
                    if let (Some(numerator), Some(denominator), Some(sums)) =
                        (numerator, denominator, sums.get_mut(*kernel))
                        && !mixed.contains(&row)
                    {
                        sums.add(numerator, denominator);
                    }
                }
            }
            for (kernel, mut sums) in kernels.iter_mut().zip(sums) {
                let mut reason = asked.bound.as_ref().err().cloned();
                let pct = sums.ratio().filter(|pct| !is_possible_share(*pct));
                if let (Some(title), Some(pct)) = (&asked.share, pct) {
                    sums = Sums::default();
                    let than = if pct < 0.0 { "below 0" } else { "above 100" };
                    reason = Some(format!("{IMPLAUSIBLE}{title} is {than} %"));
                }
                kernel.sums.push((sums, reason));
            }
        }
    }
    record_reasons(frame, asked, &mut kernels, &kernel_of)?;
    Ok(kernels)
}

/// The dispatches for which some counters come from passes that disagree.
fn mixed(frame: &DataFrame, counters: &[String]) -> Result<BTreeSet<usize>> {
    let mut first: BTreeMap<usize, u32> = BTreeMap::new();
    let mut mixed = BTreeSet::new();
    if frame.column(DISAGREEMENT).is_err() {
        return Ok(mixed);
    }
    for counter in counters {
        let Ok(groups) = frame.column(&group_of(counter)) else { continue };
        for (row, group) in groups.u32()?.iter().enumerate() {
            let Some(group) = group else { continue };
            if *first.entry(row).or_insert(group) != group {
                mixed.insert(row);
            }
        }
    }
    Ok(mixed)
}

/// The values of an expression, which may be a number.
fn column(values: &DataFrame, name: &str, number: Option<f64>, rows: usize) -> Result<Float64Chunked> {
    Ok(match number {
        Some(number) => Float64Chunked::full(name.into(), number, rows),
        None => values.column(name)?.f64()?.rechunk().into_owned(),
    })
}

/// The kernels in the order of their first dispatch, and the kernel of every row.
fn kernels(frame: &DataFrame) -> Result<(Vec<KernelSums>, Vec<usize>)> {
    let (codes, _) = numbered_texts(frame.column("kernel_name")?)?;
    let mut known: BTreeMap<Option<u32>, usize> = BTreeMap::new();
    let mut kernels: Vec<KernelSums> = Vec::new();
    let mut kernel_of = Vec::with_capacity(codes.len());
    for (row, code) in codes.into_iter().enumerate() {
        let next = kernels.len();
        let kernel = *known.entry(code).or_insert(next);
        if kernel == next {
            kernels.push(KernelSums { row, dispatches: 0, sums: Vec::new() });
        }
        if let Some(kernel) = kernels.get_mut(kernel) {
            kernel.dispatches += 1;
        }
        kernel_of.push(kernel);
    }
    Ok((kernels, kernel_of))
}

/// Records the reason for every metric without a value.
fn record_reasons(
    frame: &DataFrame,
    asked: &[BoundMetric],
    kernels: &mut [KernelSums],
    kernel_of: &[usize],
) -> Result<()> {
    let mut counts: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for column in frame.columns().iter().filter(|column| *column.dtype() == DataType::Float64) {
        let mut of_kernels = vec![0; kernels.len()];
        for (value, kernel) in column.f64()?.iter().zip(kernel_of) {
            if let (Some(_), Some(count)) = (value, of_kernels.get_mut(*kernel)) {
                *count += 1;
            }
        }
        counts.insert(column.name().to_string(), of_kernels);
    }
    for (at, asked) in asked.iter().enumerate() {
        let Ok(bound) = &asked.bound else { continue };
        let names = asked.counters();
        let divisors: Vec<String> = bound.ratio.denominator.counters().iter().map(ToString::to_string).collect();
        for (number, kernel) in kernels.iter_mut().enumerate() {
            let Some((sums, reason)) = kernel.sums.get_mut(at) else { continue };
            let is_missing = |name: &&String| {
                counts.get(*name).and_then(|counts| counts.get(number)).is_none_or(|count| *count == 0)
            };
            *reason = if reason.is_some() {
                continue;
            } else if sums.dispatches == 0 {
                let missing: Vec<&str> = names.iter().filter(is_missing).map(String::as_str).collect();
                Some(match implausible(frame, &names, &missing, number, kernel_of)? {
                    Some(reason) => format!("{IMPLAUSIBLE}{reason}"),
                    None if !missing.is_empty() => format!("not collected for this kernel: {}", missing.join(", ")),
                    None if is_missing(&&DURATION.to_owned()) => "no dispatch has a duration".to_owned(),
                    None => format!("never counted for the same dispatch, or without a value: {}", names.join(", ")),
                })
            } else if sums.denominator == 0.0 {
                let divisors = divisors.join(", ");
                Some(if divisors.is_empty() { "divided by 0".to_owned() } else { format!("divided by 0: {divisors}") })
            } else {
                asked.lacks.clone()
            };
        }
    }
    Ok(())
}

/// The reason why existing values of a kernel are not used: a missing counter was excluded, or its passes disagree.
fn implausible(
    frame: &DataFrame,
    names: &[String],
    missing: &[&str],
    kernel: usize,
    kernel_of: &[usize],
) -> Result<Option<String>> {
    let text = |column: PlSmallStr| -> Result<Option<String>> {
        let Ok(column) = frame.column(&column) else { return Ok(None) };
        let of_rows = column.str()?.iter().zip(kernel_of);
        Ok(of_rows.filter(|(_, of)| **of == kernel).find_map(|(text, _)| text).map(str::to_owned))
    };
    for name in missing {
        if let Some(reason) = text(why(name))? {
            return Ok(Some(reason));
        }
    }
    match missing.is_empty() && !mixed(frame, names)?.is_empty() {
        true => text(DISAGREEMENT.into()),
        false => Ok(None),
    }
}
