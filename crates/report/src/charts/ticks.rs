//! Marks of axes, and their names.

use super::unit::{Axis, DisplayUnit, Unit, shown};

/// An axis from its first to its last mark.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MarkedAxis {
    /// Start; the exponent of ten on a logarithmic axis.
    pub from: f64,
    pub to: f64,
    /// Marks and their names; marks between decades have no name.
    pub ticks: Vec<(f64, Option<String>)>,
    /// Name of the axis with the unit of the marks.
    pub label: String,
    pub(super) is_logarithmic: bool,
}

/// Marks of an axis: shares of it with their names.
pub type Marks = Vec<(f64, Option<String>)>;

impl MarkedAxis {
    /// The share of the axis at a value, between 0 and 1.
    pub fn share(&self, value: f64) -> f64 {
        let value = if self.is_logarithmic { value.log10() } else { value };
        let share = (value - self.from) / (self.to - self.from);
        let is_beyond = share.is_nan() || share.is_infinite() && !self.is_logarithmic;
        if is_beyond { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// The marks with a name.
    pub fn marks(&self) -> Marks {
        let named = self.ticks.iter().filter(|(_, name)| name.is_some());
        named.map(|(value, name)| (self.share(*value), name.clone())).collect()
    }
}

/// The smallest and the largest of some values.
pub fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    values.into_iter().fold(ends, |(least, greatest), value| (least.min(value), greatest.max(value)))
}

/// Values of at least this size are drawn as this size, so that sums stay finite.
pub const GREATEST: f64 = 1e290;

/// An axis for values from `least` to `greatest` with about `wanted` marks. It ends at marks, or at the values if it is
/// `exact`.
pub fn linear(axis: &Axis, least: f64, greatest: f64, wanted: usize, exact: bool) -> MarkedAxis {
    let whole = |value: f64| if value.is_finite() { value.clamp(-GREATEST, GREATEST) } else { 0.0 };
    let (least, greatest) = (whole(least), whole(greatest));
    let greatest = if greatest > least { greatest } else { least + least.abs().max(1.0) };
    let unit = DisplayUnit::new(axis.unit, greatest.abs().max(least.abs()));
    let step = step(axis.unit, (greatest - least) / unit.factor / wanted.max(1) as f64) * unit.factor;
    let (from, to) =
        if exact { (least, greatest) } else { ((least / step).floor() * step, (greatest / step).ceil() * step) };
    let first = (from / step).ceil();
    let count = ((to / step + 1e-9).floor() - first).clamp(0.0, 50.0) as usize;
    let ticks = (0..=count)
        .map(|index| {
            let value = (first + index as f64) * step;
            (value, unit.number(if value.abs() < step * 1e-6 { 0.0 } else { value }))
        })
        .collect::<Vec<_>>();
    // Numbers that are equal in the digits shown would add nothing.
    let mut seen: Vec<&str> = Vec::new();
    let mut told = Vec::new();
    for (value, text) in &ticks {
        if !seen.contains(&text.as_str()) {
            told.push((*value, Some(text.clone())));
            seen.push(text);
        }
    }
    let label = axis.label(greatest.abs().max(least.abs()));
    MarkedAxis { from, to, ticks: told, label, is_logarithmic: false }
}

/// The smallest of 1, 2, 5, 10 … that is not below `wanted`. For bytes, of 1, 2, 4, 8 …; for counts, a whole number.
fn step(unit: Unit, wanted: f64) -> f64 {
    let wanted = if wanted.is_finite() && wanted > 0.0 { wanted } else { 1.0 };
    if unit == Unit::Bytes && wanted > 0.4 {
        return 2_f64.powf(wanted.log2().ceil());
    }
    let wanted = if unit == Unit::Count { wanted.max(1.0) } else { wanted };
    let decade = 10_f64.powf(wanted.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * decade).find(|step| *step >= wanted * 0.999).unwrap_or(wanted)
}

/// An axis from `least` to `greatest`, which must be above zero, with names at about `wanted` marks at most. The axis
/// itself has no name.
pub fn logarithmic(unit: Unit, least: f64, greatest: f64, wanted: usize) -> MarkedAxis {
    let power = |value: f64, otherwise: f64| {
        let power = value.log10();
        if power.is_finite() { power.clamp(-300.0, 300.0) } else { otherwise }
    };
    let from = power(least, 0.0);
    let to = power(greatest, from + 1.0).max(from + 0.1);
    let (first, last) = (from.floor() as i32, to.ceil() as i32);
    let decades = (last - first).max(1) as usize;
    let every = decades.div_ceil(wanted.max(1)) as i32;
    let inside = |place: f64| place >= from - 1e-9 && place <= to + 1e-9;
    let mut ticks = Vec::new();
    for decade in first..=last {
        for digit in 1..10 {
            let value = f64::from(digit) * 10_f64.powi(decade);
            let named =
                digit == 1 && decade.rem_euclid(every) == 0 || every == 1 && decades <= 2 && [2, 5].contains(&digit);
            if inside(value.log10()) && (named || decades <= 8) {
                ticks.push((value, named.then(|| shown(unit, value))));
            }
        }
    }
    MarkedAxis { from, to, ticks, label: String::new(), is_logarithmic: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(axis: &MarkedAxis) -> Vec<&str> {
        axis.ticks.iter().filter_map(|(_, name)| name.as_deref()).collect()
    }

    #[test]
    fn marks_are_round_numbers_in_the_unit_that_fits() {
        let axis = linear(&Axis::time("time"), 0.0, 8.3e6, 5, false);
        assert_eq!((axis.label.as_str(), names(&axis)), ("time (ms)", vec!["0", "2", "4", "6", "8", "10"]));
        let axis = linear(&Axis::bytes("live"), 0.0, 3.0 * 1024.0 * 1024.0 * 1024.0, 4, false);
        assert_eq!((axis.label.as_str(), names(&axis)), ("live (GiB)", vec!["0", "1", "2", "3"]));
        assert_eq!(names(&linear(&Axis::count("calls"), 0.0, 2.0, 5, false)), ["0", "1", "2"]);
        assert_eq!(linear(&Axis::count("calls"), 0.0, 0.0, 5, false).to, 1.0);
    }

    #[test]
    fn marks_of_logarithms_are_decades() {
        let axis = logarithmic(Unit::Nanoseconds, 1_000.0, 1e6, 5);
        assert_eq!(names(&axis), ["1\u{a0}µs", "10\u{a0}µs", "100\u{a0}µs", "1\u{a0}ms"]);
        assert_eq!(axis.share(1_000.0), 0.0);
    }

    #[test]
    fn odd_values_have_axes() {
        for (least, greatest) in [(f64::NAN, f64::INFINITY), (1.0, 1.0), (-1e308, 1e308), (5e-324, 5e-324), (3.0, 1.0)]
        {
            let axis = linear(&Axis::time("t"), least, greatest, 5, false);
            assert!(axis.to > axis.from && axis.share(least).is_finite(), "{least} {greatest} {axis:?}");
            let axis = logarithmic(Unit::Number, least, greatest, 5);
            assert!(axis.to > axis.from && axis.share(greatest).is_finite(), "{least} {greatest} {axis:?}");
        }
    }
}
