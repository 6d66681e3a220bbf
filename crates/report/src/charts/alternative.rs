//! Charts in words, for readers who do not see them.

use super::heat_cells::HeatCells;
use super::lines::{by_deviation, median};
use super::model::{Bar, Bin, Chart, Lines, Plot};
use super::outliers::{MAX_ROWS, STANDS_OUT};
use super::stacked;
use super::ticks::range;
use super::unit::{Axis, Unit, shown};

/// Maximum number of names to list.
const NAMED: usize = 3;

/// Describes the chart in words, with its main numbers.
pub fn alternative(chart: &Chart) -> String {
    if chart.is_empty() {
        return format!("{}: {}", chart.title, words_instead(chart));
    }
    let (kind, told) = match &chart.plot {
        Plot::Stacked(data) => {
            let sum = |part: usize| {
                data.rows
                    .iter()
                    .filter_map(|(_, values)| values.get(part))
                    .filter(|value| value.is_finite())
                    .sum::<f64>()
            };
            let parts = data.parts.iter().enumerate().map(|(index, part)| (part.name.clone(), sum(index)));
            let told: Vec<String> =
                parts.map(|(name, value)| format!("{name} {}", shown(data.value.unit, value))).collect();
            let mut notes = Vec::new();
            stacked::fitting(data, MAX_ROWS, &mut notes);
            let standing = notes.into_iter().find(|note| note.starts_with(STANDS_OUT));
            let standing = standing.map_or_else(String::new, |standing| format!("; {standing}"));
            let kind = format!("stacked bars of {}", counted(data.rows.len(), "row"));
            (kind, format!("in all {}{standing}", told.join(", ")))
        }
        Plot::Bars(data) => (
            format!("{} of {}", counted(data.bars.len(), "bar"), measured(&data.value)),
            greatest(&data.bars, data.value.unit),
        ),
        Plot::Pareto(data) => {
            let told = greatest(&data.bars, data.value.unit);
            let kind =
                format!("{} of {} with cumulative shares", counted(data.bars.len(), "bar"), measured(&data.value));
            (kind, format!("{told}; {} in all", shown(data.value.unit, data.whole())))
        }
        Plot::Histogram(data) => {
            let total: f64 = data.bins.iter().map(Bin::count).sum();
            let most = data.bins.iter().max_by(|left, right| left.count().total_cmp(&right.count()));
            let told = most.map_or_else(String::new, |bin| {
                let (from, to) = (shown(data.x.unit, bin.from), shown(data.x.unit, bin.to));
                format!("; most, {}, from {from} to {to}", shown(data.y.unit, bin.count()))
            });
            let kind = format!("histogram of {} in {}", measured(&data.x), counted(data.bins.len(), "bin"));
            (kind, format!("{} in all{told}", shown(data.y.unit, total)))
        }
        Plot::HeatMap(data) => {
            let cells = data.rows.iter().flat_map(|(_, cells)| cells).flatten().copied();
            let values: Vec<f64> = cells.filter(|value| value.is_finite()).collect();
            let columns = data.rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
            let kind = format!(
                "heat map of {} with {} and {}",
                measured(&data.value),
                counted(data.rows.len(), "row"),
                counted(columns, "column")
            );
            let standing = HeatCells::new(data, MAX_ROWS, columns, &mut Vec::new()).standing;
            let standing = standing.map_or_else(String::new, |standing| format!("; {standing}"));
            (kind, spread(&values, data.value.unit) + &standing)
        }
        Plot::Roofline(data) => {
            let mut peaks: Vec<String> = data
                .roofs
                .gbps
                .iter()
                .map(|rate| format!("memory {}", shown(Unit::GigabytesPerSecond, *rate)))
                .collect();
            peaks.extend(data.roofs.gflops.iter().map(|(name, rate)| format!("{name} {}", shown(Unit::Gflops, *rate))));
            let fastest =
                data.points.iter().filter_map(|point| Some((point, point.gflops.filter(|rate| rate.is_finite())?)));
            let fastest = fastest.max_by(|left, right| left.1.total_cmp(&right.1));
            let told = fastest.map_or_else(String::new, |(point, rate)| {
                format!("; fastest {} with {}", point.name, shown(Unit::Gflops, rate))
            });
            let roofs =
                if peaks.is_empty() { "roofs not known".to_owned() } else { format!("roofs {}", peaks.join(", ")) };
            (format!("roofline of {}", counted(data.points.len(), "kernel")), format!("{roofs}{told}"))
        }
        Plot::Gauges(data) => {
            let told: Vec<String> = data
                .iter()
                .take(NAMED)
                .map(|gauge| {
                    let said = |value: Option<f64>| {
                        value.map_or_else(|| "unknown".to_owned(), |value| shown(Unit::Percent, value))
                    };
                    format!("{} achieved {} of {}", gauge.label, said(gauge.achieved_pct), said(gauge.theoretical_pct))
                })
                .collect();
            (format!("gauges of {}", counted(data.len(), "kernel")), told.join(", "))
        }
        Plot::Steps(data) => {
            (format!("{} of {}", counted(data.lines.len(), "step line"), measured(&data.y)), lines(data, false))
        }
        Plot::Pace(data) => {
            (format!("{} of {}", counted(data.lines.len(), "line"), measured(&data.y)), lines(data, true))
        }
        Plot::Changes(data) => {
            let sure: Vec<String> = data
                .changes
                .iter()
                .filter(|change| change.is_sure)
                .take(NAMED)
                .map(|change| format!("{} {:+.1}%", change.name, change.pct))
                .collect();
            let found = if sure.is_empty() { "none surely changed".to_owned() } else { sure.join(", ") };
            (format!("changes of {}", counted(data.changes.len(), "kernel")), found)
        }
    };
    format!("{}: {kind}; {told}", chart.title)
}

/// The words in place of a chart that has nothing to draw.
pub fn words_instead(chart: &Chart) -> String {
    if let Plot::Histogram(data) = &chart.plot
        && let Some(bin) = data.bins.iter().find(|bin| bin.count() > 0.0)
    {
        let (from, to) = (shown(data.x.unit, bin.from), shown(data.x.unit, bin.to));
        return format!("all {} {} lie between {from} and {to}", shown(data.y.unit, bin.count()), measured(&data.y));
    }
    "no data".to_owned()
}

fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

fn measured(axis: &Axis) -> &str {
    if axis.name.is_empty() { "values" } else { &axis.name }
}

fn greatest(bars: &[Bar], unit: Unit) -> String {
    let mut bars: Vec<&Bar> = bars.iter().filter(|bar| bar.value.is_finite()).collect();
    bars.sort_by(|left, right| right.value.total_cmp(&left.value));
    let told: Vec<String> =
        bars.into_iter().take(NAMED).map(|bar| format!("{} {}", bar.label, shown(unit, bar.value))).collect();
    format!("greatest {}", told.join(", "))
}

fn spread(values: &[f64], unit: Unit) -> String {
    let (least, most) = range(values.iter().copied());
    let middle = median(values.iter().copied()).unwrap_or(f64::NAN);
    format!("{} to {}, median {}", shown(unit, least), shown(unit, most), shown(unit, middle))
}

fn lines(data: &Lines, medians: bool) -> String {
    let told: Vec<String> = by_deviation(&data.lines)
        .into_iter()
        .filter_map(|line| data.lines.get(line))
        .take(NAMED)
        .filter_map(|line| {
            let values = || line.points.iter().map(|(_, y)| *y).filter(|value| value.is_finite());
            let (_, most) = range(values());
            let median = median(values())?;
            let unit = data.y.unit;
            Some(if medians {
                format!("{} median {}, greatest {}", line.name, shown(unit, median), shown(unit, most))
            } else {
                format!("{} up to {}", line.name, shown(unit, most))
            })
        })
        .collect();
    told.join("; ")
}
