//! Content of a chart: values, names and units, independent of how it is drawn.

use super::unit::{Axis, Unit};

#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Its subject, in a few words.
    pub title: String,
    /// Its values.
    pub plot: Plot,
    /// Notes that readers need: omitted values, and values that are not what they seem. Drawn below the chart.
    pub notes: Vec<String>,
}

/// The kinds of charts with their values. Values that are not numbers are ignored.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// Horizontal bars made of parts.
    Stacked(Stacked),
    /// Horizontal bars.
    Bars(Bars),
    /// Horizontal bars, the longest first, with cumulative shares.
    Pareto(Bars),
    /// Upright bars of bins.
    Histogram(Histogram),
    /// Rows of colored cells over time.
    HeatMap(HeatMap),
    /// Points under roofs, both axes logarithmic.
    Roofline(Roofline),
    /// How much of 100 % is reached, and how much is possible.
    Gauges(Vec<Gauge>),
    /// Lines that keep a value until the next one.
    Steps(Lines),
    /// Lines from value to value with their medians.
    Pace(Lines),
    /// Changes with their intervals over their importance.
    Changes(Changes),
}

/// Meaning of a color: the same in every chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Compute,
    /// Communication between GPUs.
    Communication,
    /// Copies of memory.
    Copy,
    /// Nothing runs.
    Idle,
    /// Anything else.
    Other,
    /// Quantities other than GPU time, such as calls and counts.
    Neutral,
    /// One of several series that only have to be distinguished, by its number.
    Series(usize),
}

impl Role {
    /// Name of the color in legends.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Communication => "communication",
            Self::Copy => "copies",
            Self::Idle => "idle",
            Self::Other | Self::Neutral | Self::Series(_) => "other",
        }
    }

    /// The role that the name of a column, cause or category implies; [`Role::Other`] if none.
    pub fn of_name(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        if has(&["comm", "collective", "nccl", "rccl"]) {
            Self::Communication
        } else if has(&["idle"]) {
            Self::Idle
        } else if has(&["copy", "copies", "memcpy", "fill"]) {
            Self::Copy
        } else if has(&["compute", "gemm", "kernel", "busy"]) {
            Self::Compute
        } else {
            Self::Other
        }
    }
}

/// A part of stacked bars, in the legend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarPart {
    pub name: String,
    /// Its color.
    pub role: Role,
}

impl BarPart {
    /// A part of that name and color.
    pub fn new(name: impl Into<String>, role: Role) -> Self {
        Self { name: name.into(), role }
    }

    /// The parts of the time of a GPU.
    pub(crate) fn of_time() -> Vec<Self> {
        [
            ("compute", Role::Compute),
            ("exposed communication", Role::Communication),
            ("exposed copies", Role::Copy),
            ("idle", Role::Idle),
        ]
        .map(|(name, role)| Self::new(name, role))
        .to_vec()
    }
}

/// Bars made of parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Stacked {
    /// Quantity that the bars measure.
    pub value: Axis,
    /// The parts in the order in which they are stacked.
    pub parts: Vec<BarPart>,
    /// Name of each bar, and a value for each part.
    pub rows: Vec<(String, Vec<f64>)>,
    /// Whether the bars are ranks, GPUs and the like, which are expected to be alike.
    pub is_of_places: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its name, shortened in the middle if it is too long.
    pub label: String,
    /// Its length.
    pub value: f64,
    /// Its color.
    pub role: Role,
}

impl Bar {
    /// A bar in the color of computing.
    pub fn new(label: impl Into<String>, value: f64) -> Self {
        Self { label: label.into(), value, role: Role::Compute }
    }

    /// The same bar in another color.
    #[must_use]
    pub(crate) fn with_role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }
}

/// Bars of one part.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// Quantity that the bars measure.
    pub value: Axis,
    /// The bars from the top down.
    pub bars: Vec<Bar>,
    /// The value of 100 %, if it is more than the sum of the bars.
    pub total: Option<f64>,
}

impl Bars {
    /// The value of 100 %.
    pub(crate) fn whole(&self) -> f64 {
        let sum: f64 = self.bars.iter().map(|bar| bar.value).filter(|value| value.is_finite()).sum();
        self.total.filter(|total| *total >= sum).unwrap_or(sum)
    }
}

/// A bin of a histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct Bin {
    /// Lower bound.
    pub from: f64,
    /// Upper bound, which is not in the bin.
    pub to: f64,
    /// Counts by part.
    pub counts: Vec<f64>,
}

impl Bin {
    /// The count of all parts.
    pub(crate) fn count(&self) -> f64 {
        self.counts.iter().filter(|count| count.is_finite()).sum::<f64>().max(0.0)
    }
}

/// Division of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios.
    Logarithmic,
}

/// Counts of things by size.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Quantity that the bins divide.
    pub x: Axis,
    /// Quantity that they count.
    pub y: Axis,
    /// Division of the x axis.
    pub scale: Scale,
    /// Counts, stacked; one for a plain histogram.
    pub parts: Vec<BarPart>,
    /// The bins in rising order; there may be gaps between them.
    pub bins: Vec<Bin>,
}

/// A value for each row and interval.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// Quantity that runs to the right.
    pub x: Axis,
    /// Start of the first column.
    pub from: f64,
    /// End of the last column.
    pub to: f64,
    /// Name of each row and its cells from left to right, `None` for a missing value.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
    /// Quantity that the cells measure.
    pub value: Axis,
    /// Smallest and largest value of the colors, if they are not those of the cells.
    pub range: Option<(f64, f64)>,
    /// Number of the rows that each row is expected to be like; empty if they differ in kind.
    pub groups: Vec<usize>,
}

/// A kernel in a roofline.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub name: String,
    /// FLOPs per byte of memory traffic.
    pub intensity: Option<f64>,
    /// Achieved GFLOP/s.
    pub gflops: Option<f64>,
    /// Its importance: its time, which determines the size of the point.
    pub weight: Option<f64>,
}

/// Roofs that bound the kernels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roofs {
    /// Bandwidth of the memory, GB/s.
    pub gbps: Option<f64>,
    /// Rates of the units by name, GFLOP/s.
    pub gflops: Vec<(String, f64)>,
}

/// Kernels and their bounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roofline {
    /// The kernels, the most important first.
    pub points: Vec<Point>,
    /// Their bounds.
    pub roofs: Roofs,
}

/// Reached and possible shares.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    pub label: String,
    /// Reached, percent.
    pub achieved_pct: Option<f64>,
    /// Possible, percent.
    pub theoretical_pct: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub name: String,
    /// Its points in the order of x.
    pub points: Vec<(f64, f64)>,
}

/// Lines over a common axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// Quantity that runs to the right.
    pub x: Axis,
    /// Quantity that runs upwards.
    pub y: Axis,
    pub lines: Vec<Line>,
}

/// A change in percent with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub name: String,
    pub pct: f64,
    pub low_pct: f64,
    pub high_pct: f64,
    /// Its share of the whole, in percent.
    pub weight_pct: f64,
    /// Whether it is more than noise.
    pub is_sure: bool,
}

/// Changes over their shares.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    /// The whole of the shares.
    pub weight: String,
    /// Smallest change that matters, in percent.
    pub band_pct: f64,
    pub changes: Vec<Change>,
}

impl Chart {
    fn with_plot(title: impl Into<String>, plot: Plot) -> Self {
        Self { title: title.into(), plot, notes: Vec::new() }
    }

    /// Bars of parts: a name and values for each bar.
    pub fn stacked(
        title: impl Into<String>,
        value: Axis,
        parts: Vec<BarPart>,
        rows: impl IntoIterator<Item = (String, Vec<f64>)>,
    ) -> Self {
        let rows = rows.into_iter().collect();
        Self::with_plot(title, Plot::Stacked(Stacked { value, parts, rows, is_of_places: false }))
    }

    /// How the time of each rank or GPU was spent: nanoseconds of computing, exposed communication, exposed copies and
    /// idleness.
    pub(crate) fn time_by_rank(title: impl Into<String>, rows: impl IntoIterator<Item = (String, [f64; 4])>) -> Self {
        let rows = rows.into_iter().map(|(label, values)| (label, values.to_vec()));
        Self::stacked(title, Axis::time("time"), BarPart::of_time(), rows).of_places()
    }

    /// The same chart, whose bars are expected to be alike.
    #[must_use]
    pub(crate) fn of_places(mut self) -> Self {
        if let Plot::Stacked(stacked) = &mut self.plot {
            stacked.is_of_places = true;
        }
        self
    }

    /// Horizontal bars in the order in which they are given.
    pub fn bars(title: impl Into<String>, value: Axis, bars: impl IntoIterator<Item = Bar>) -> Self {
        Self::with_plot(title, Plot::Bars(Bars { value, bars: bars.into_iter().collect(), total: None }))
    }

    /// Time by category, each in the color that its name implies.
    pub fn categories(
        title: impl Into<String>,
        value: Axis,
        categories: impl IntoIterator<Item = (String, f64)>,
    ) -> Self {
        let bars = categories.into_iter().map(|(name, value)| {
            let role = match Role::of_name(&name) {
                Role::Other if name != "other" => Role::Compute,
                role => role,
            };
            Bar::new(name, value).with_role(role)
        });
        Self::bars(title, value, bars)
    }

    /// Bars, the longest first, with cumulative shares of `total`, or by default of their sum.
    pub fn pareto(
        title: impl Into<String>,
        value: Axis,
        bars: impl IntoIterator<Item = Bar>,
        total: Option<f64>,
    ) -> Self {
        Self::with_plot(title, Plot::Pareto(Bars { value, bars: bars.into_iter().collect(), total }))
    }

    /// A histogram of one kind of things.
    pub fn histogram(
        title: impl Into<String>,
        x: Axis,
        y: Axis,
        scale: Scale,
        bins: impl IntoIterator<Item = (f64, f64, f64)>,
    ) -> Self {
        let bins = bins.into_iter().map(|(from, to, count)| Bin { from, to, counts: vec![count] }).collect();
        let parts = vec![BarPart::new(y.name.clone(), Role::Compute)];
        Self::with_plot(title, Plot::Histogram(Histogram { x, y, scale, parts, bins }))
    }

    /// A heat map of shares (0 to 100 %) over a time from `from` to `to` in nanoseconds.
    pub fn utilization(
        title: impl Into<String>,
        (from, to): (f64, f64),
        rows: impl IntoIterator<Item = (String, Vec<Option<f64>>)>,
    ) -> Self {
        let (x, value) = (Axis::time("time"), Axis::percent("busy"));
        let rows: Vec<(String, Vec<Option<f64>>)> = rows.into_iter().collect();
        let (range, groups) = (Some((0.0, 100.0)), vec![0; rows.len()]);
        Self::with_plot(title, Plot::HeatMap(HeatMap { x, from, to, rows, value, range, groups }))
    }

    pub(crate) fn heat_map(title: impl Into<String>, heat_map: HeatMap) -> Self {
        Self::with_plot(title, Plot::HeatMap(heat_map))
    }

    pub fn roofline(title: impl Into<String>, points: Vec<Point>, roofs: Roofs) -> Self {
        Self::with_plot(title, Plot::Roofline(Roofline { points, roofs }))
    }

    /// Achieved and theoretical occupancy.
    pub fn gauges(title: impl Into<String>, gauges: impl IntoIterator<Item = Gauge>) -> Self {
        Self::with_plot(title, Plot::Gauges(gauges.into_iter().collect()))
    }

    /// A chart of values that hold until the next change, such as live memory over time.
    pub fn steps(title: impl Into<String>, x: Axis, y: Axis, lines: Vec<Line>) -> Self {
        Self::with_plot(title, Plot::Steps(Lines { x, y, lines }))
    }

    /// Durations over ordinals, with the median of each line.
    pub fn pace(title: impl Into<String>, x: Axis, y: Axis, lines: Vec<Line>) -> Self {
        Self::with_plot(title, Plot::Pace(Lines { x, y, lines }))
    }

    /// Changes with their intervals over their importance.
    pub fn changes(title: impl Into<String>, weight: impl Into<String>, band_pct: f64, changes: Vec<Change>) -> Self {
        Self::with_plot(title, Plot::Changes(Changes { weight: weight.into(), band_pct, changes }))
    }

    /// The chart with a note under it.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        match &self.plot {
            Plot::Stacked(stacked) => {
                !stacked.rows.iter().any(|(_, values)| values.iter().any(|value| value.is_finite()))
            }
            Plot::Bars(bars) | Plot::Pareto(bars) => !bars.bars.iter().any(|bar| bar.value.is_finite()),
            // One bar shows nothing that a number does not say.
            Plot::Histogram(histogram) => histogram.bins.iter().filter(|bin| bin.count() > 0.0).count() < 2,
            Plot::HeatMap(map) => !map.rows.iter().flat_map(|(_, cells)| cells).any(Option::is_some),
            Plot::Roofline(roofline) => roofline.points.is_empty(),
            Plot::Gauges(gauges) => gauges.is_empty(),
            Plot::Steps(lines) | Plot::Pace(lines) => lines.lines.iter().all(|line| line.points.is_empty()),
            Plot::Changes(changes) => !changes.changes.iter().any(super::intervals::is_drawn),
        }
    }

    /// The unit of the values that the chart compares.
    pub fn unit(&self) -> Unit {
        match &self.plot {
            Plot::Stacked(stacked) => stacked.value.unit,
            Plot::Bars(bars) | Plot::Pareto(bars) => bars.value.unit,
            Plot::Histogram(histogram) => histogram.y.unit,
            Plot::HeatMap(map) => map.value.unit,
            Plot::Roofline(_) => Unit::Gflops,
            Plot::Gauges(_) | Plot::Changes(_) => Unit::Percent,
            Plot::Steps(lines) | Plot::Pace(lines) => lines.y.unit,
        }
    }
}
