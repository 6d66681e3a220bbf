//! The table `metric_sums`: numerators and denominators of metrics, summed over the dispatches of every kernel.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{categories, dictionary_column, floats, integers};
use crate::columns::values::FrameValues;
use crate::derive::OnDemandTables;
use crate::derive::counters::counted_dispatches::extract as counted_dispatches;
use crate::derive::counters::joined_passes::{Joined, joined};
use crate::derive::counters::metric_evaluation::{BoundMetric, KernelSums, Sums, all_asked, evaluated};
use crate::derive::counters::plausible_values::plausible;
use crate::derive::{Build, DerivedTable, Frames, Joint, ProcessPart, RowsWhen, WhyEmpty};
use wavesieve_model::analysis::hardware::devices::device;
use wavesieve_model::analysis::hardware::metrics::{Definitions, EffectiveDefinitions, Metric, Normalization};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub use crate::derive::counters::counted_dispatches::needs;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows_when: RowsWhen::all(&["counters"]).if_found(),
    why_empty: NO_METRIC,
    ..DerivedTable::new(
        &tables::hardware::METRIC_SUMS,
        needs,
        Build::Joint(Joint { optional_needs: Vec::new, extract, relate, keep: |_| None }),
    )
};

/// Why kernels with collected counters may have no rows.
pub(crate) const NO_METRIC: WhyEmpty = WhyEmpty::Because(
    "no metric is defined for the architecture of the GPU, or the architecture is unknown; see `wavesieve table device_constants`",
);

/// The dispatches of a process with their counters.
pub fn extract(
    _process: &Process,
    tables: &Frames,
    others: &dyn OnDemandTables,
    _wanted: &BTreeSet<&'static str>,
) -> Result<DataFrame> {
    counted_dispatches(tables, others.metrics())
}

/// The joined dispatches of one GPU of a rank.
pub struct GpuDispatches {
    /// The dispatches, in the order of their first pass.
    pub frame: DataFrame,
    /// For each dispatch, the part that reports it.
    pub source_part: Vec<usize>,
    /// The part whose process describes the GPU.
    pub part: usize,
    /// Index of the GPU in its process.
    pub gpu: Option<i64>,
}

/// The dispatches of every rank with its counter passes joined, by GPU.
pub fn by_gpu(parts: &[ProcessPart<'_>]) -> Result<Vec<GpuDispatches>> {
    let mut ranks: BTreeMap<i64, Vec<(usize, &DataFrame)>> = BTreeMap::new();
    for (part, (process, frame)) in parts.iter().enumerate() {
        if frame.height() > 0 {
            ranks.entry(process.rank).or_default().push((part, frame));
        }
    }
    let mut found = Vec::new();
    for members in ranks.values() {
        let frames: Vec<&DataFrame> = members.iter().map(|(_, frame)| *frame).collect();
        let Joined { frame, source_part } = joined(&frames)?;
        let mut rows: BTreeMap<Option<i64>, Vec<IdxSize>> = BTreeMap::new();
        for (row, gpu) in (0..).zip(frame.integer("gpu")?.iter()) {
            rows.entry(gpu).or_default().push(row);
        }
        for (gpu, rows) in rows {
            let source_part: Vec<usize> = rows
                .iter()
                .filter_map(|row| source_part.get(*row as usize).and_then(|at| members.get(*at)))
                .map(|(part, _)| *part)
                .collect();
            let Some(part) = source_part.first().copied() else { continue };
            let all = rows.len() == frame.height();
            let frame = if all { frame.clone() } else { frame.take(&IdxCa::from_vec("".into(), rows))? };
            let constants = parts.get(part).map(|(process, _)| device(process, gpu).constants).unwrap_or_default();
            found.push(GpuDispatches { frame: plausible(frame, &constants)?, source_part, part, gpu });
        }
    }
    Ok(found)
}

/// Adds up the metrics of every kernel over the dispatches of each rank.
fn relate(parts: &[ProcessPart<'_>], definitions: &EffectiveDefinitions) -> Result<Vec<DataFrame>> {
    let rows =
        |frame: &DataFrame, kernels: &[&KernelSums], asked: &[BoundMetric]| table(frame, kernels, asked, definitions);
    per_part(parts, &by_gpu(parts)?, definitions, |_| true, rows, &["kernel_id", "gpu", "ordinal", "per_ordinal"])
}

/// Builds a table from the `wanted` metrics of the kernels of every GPU. `rows` makes the rows of one part; they are sorted at the end.
///
/// # Errors
/// When metrics cannot be computed, and the errors of `rows`.
pub(crate) fn per_part(
    parts: &[ProcessPart<'_>],
    gpus: &[GpuDispatches],
    definitions: &Definitions,
    wanted: impl Fn(&Metric) -> bool,
    rows: impl Fn(&DataFrame, &[&KernelSums], &[BoundMetric]) -> Result<DataFrame>,
    order: &[&str],
) -> Result<Vec<DataFrame>> {
    let mut tables: Vec<Option<DataFrame>> = parts.iter().map(|_| None).collect();
    for of_gpu in gpus {
        let Some((process, _)) = parts.get(of_gpu.part) else { continue };
        let asked = all_asked(definitions, &device(process, of_gpu.gpu), &of_gpu.frame, &wanted);
        let kernels = evaluated(&of_gpu.frame, &asked)?;
        let mut by_part: BTreeMap<usize, Vec<&KernelSums>> = BTreeMap::new();
        for kernel in &kernels {
            if let Some(part) = of_gpu.source_part.get(kernel.row) {
                by_part.entry(*part).or_default().push(kernel);
            }
        }
        for (part, kernels) in by_part {
            let rows = rows(&of_gpu.frame, &kernels, &asked)?;
            let Some(slot) = tables.get_mut(part) else { continue };
            match slot {
                Some(known) => {
                    known.vstack_mut(&rows)?;
                }
                None => *slot = Some(rows),
            }
        }
    }
    let options = || SortMultipleOptions::default().with_maintain_order(true).with_nulls_last(false);
    tables
        .into_iter()
        .map(|known| match known {
            Some(rows) => Ok(rows.sort(order.iter().copied(), options())?),
            None => rows(&DataFrame::empty(), &[], &[]),
        })
        .collect()
}

/// Columns that identify the kernel and GPU of each row, taken from its first dispatch.
pub fn of_kernels(frame: &DataFrame, kernels: &[&KernelSums]) -> Result<Vec<Column>> {
    let integers_of = ["gpu", "device", "kernel_id"];
    let texts_of = ["kernel_name", "short_name", "category"];
    if frame.width() == 0 {
        let nothing = || Vec::<Option<i64>>::new().into_iter();
        let whole = integers_of.iter().map(|name| Ok(integers(name, nothing())));
        let texts = texts_of.iter().map(|name| categories(name, std::iter::empty()));
        return Ok(whole.chain(texts).collect::<PolarsResult<_>>()?);
    }
    let taken: IdxCa = kernels.iter().map(|kernel| IdxSize::try_from(kernel.row).ok()).collect_ca("".into());
    let names: Vec<&str> = integers_of.into_iter().chain(texts_of).collect();
    Ok(frame.select(names)?.take(&taken)?.into_columns())
}

/// A kernel, a requested metric, its sums, and the reason for a missing value.
type MetricRow<'a> = (&'a KernelSums, &'a BoundMetric, &'a Sums, Option<&'a str>);

/// Units with the basis of normalized metrics.
fn units(definitions: &Definitions, rows: &[MetricRow<'_>]) -> PolarsResult<Column> {
    let per: Vec<Option<Normalization>> = std::iter::once(None).chain(Normalization::ALL.map(Some)).collect();
    let dictionary: Vec<Option<String>> = definitions
        .metrics
        .iter()
        .flat_map(|metric| {
            per.iter().map(|per| {
                Some(per.map_or_else(|| metric.unit.clone(), |per| format!("{}/{}", metric.unit, per.unit())))
            })
        })
        .collect();
    let place =
        |asked: &BoundMetric| per.iter().position(|per| *per == asked.per).map(|at| asked.metric * per.len() + at);
    dictionary_column("unit", &dictionary, rows.iter().map(|(_, asked, ..)| place(asked)))
}

/// The rows of some kernels.
pub fn table(
    frame: &DataFrame,
    kernels: &[&KernelSums],
    asked: &[BoundMetric],
    definitions: &Definitions,
) -> Result<DataFrame> {
    let rows: Vec<MetricRow<'_>> = kernels
        .iter()
        .flat_map(|kernel| {
            kernel.sums.iter().zip(asked).map(|((sums, reason), asked)| (*kernel, asked, sums, reason.as_deref()))
        })
        .collect();
    let chosen: Vec<&KernelSums> = rows.iter().map(|(kernel, ..)| *kernel).collect();
    let mut columns = of_kernels(frame, &chosen)?;
    let metric = |at: usize| definitions.metrics.get(at);
    let by_metric = |name: &str, text: fn(&Metric) -> &str| {
        let dictionary: Vec<&str> = definitions.metrics.iter().map(text).collect();
        dictionary_column(name, &dictionary, rows.iter().map(|(_, asked, ..)| Some(asked.metric)))
    };
    let whole = |name: &str, value: &dyn Fn(&MetricRow<'_>) -> Option<i64>| integers(name, rows.iter().map(value));
    let number = |name: &str, value: &dyn Fn(&BoundMetric, &Sums) -> Option<f64>| {
        floats(name, rows.iter().map(|(_, asked, sums, _)| value(asked, sums)))
    };
    let per_place = |asked: &BoundMetric| Normalization::ALL.iter().position(|per| Some(*per) == asked.per);
    let counted = |sums: &Sums| sums.dispatches > 0;
    columns.extend([
        whole("panel", &|(_, asked, ..)| metric(asked.metric).map(|metric| metric.panel)),
        by_metric("panel_title", |metric| &metric.panel_title)?,
        by_metric("section", |metric| &metric.table)?,
        whole("ordinal", &|(_, asked, ..)| Some(asked.metric as i64)),
        by_metric("metric", |metric| &metric.id)?,
        by_metric("title", |metric| &metric.title)?,
        units(definitions, &rows)?,
        dictionary_column(
            "per",
            &Normalization::ALL.map(Normalization::name),
            rows.iter().map(|(_, asked, ..)| per_place(asked)),
        )?,
        whole("per_ordinal", &|(_, asked, ..)| Some(per_place(asked).map_or(0, |place| place as i64))),
        whole("kernel_dispatches", &|(kernel, ..)| Some(kernel.dispatches)),
        whole("dispatches", &|(_, _, sums, _)| Some(sums.dispatches)),
        number("numerator", &|_, sums| counted(sums).then_some(sums.numerator)),
        number("denominator", &|_, sums| counted(sums).then_some(sums.denominator)),
        whole("valued_dispatches", &|(_, _, sums, _)| Some(sums.values)),
        number("value_sum", &|_, sums| (sums.values > 0).then_some(sums.value_sum)),
        number("value_min", &|_, sums| sums.value_min),
        number("value_max", &|_, sums| sums.value_max),
        number("peak", &|asked, _| asked.peak),
        categories("reason", rows.iter().map(|(.., reason)| *reason))?,
    ]);
    Ok(DataFrame::new_infer_height(columns)?)
}
