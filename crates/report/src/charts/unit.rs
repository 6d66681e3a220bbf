//! Quantities that axes measure, and the format of their numbers.

/// Unit that values of a chart are given in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds, shown in a suitable unit.
    Nanoseconds,
    /// Bytes, shown in KiB, MiB and so on.
    Bytes,
    /// Number of things.
    Count,
    /// Percent, 0 to 100.
    Percent,
    /// Gigabytes (10⁹) per second.
    GigabytesPerSecond,
    /// 10⁹ floating point operations per second.
    Gflops,
    /// Floating point operations per byte.
    FlopsPerByte,
    /// A number without a unit.
    Number,
}

/// An axis: its quantity and the unit of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// A few words, such as `duration`; may be empty.
    pub name: String,
    /// Unit of the values.
    pub unit: Unit,
}

impl Axis {
    pub fn new(name: impl Into<String>, unit: Unit) -> Self {
        Self { name: name.into(), unit }
    }

    /// Times in nanoseconds.
    pub fn time(name: impl Into<String>) -> Self {
        Self::new(name, Unit::Nanoseconds)
    }

    /// Numbers of things.
    pub fn count(name: impl Into<String>) -> Self {
        Self::new(name, Unit::Count)
    }

    /// Shares of 100.
    pub fn percent(name: impl Into<String>) -> Self {
        Self::new(name, Unit::Percent)
    }

    /// Sizes in bytes.
    pub fn bytes(name: impl Into<String>) -> Self {
        Self::new(name, Unit::Bytes)
    }

    /// The name with the unit that values up to `greatest` are shown in: `duration (ms)`.
    pub fn label(&self, greatest: f64) -> String {
        match (self.name.is_empty(), DisplayUnit::new(self.unit, greatest).symbol) {
            (_, "") => self.name.clone(),
            (true, symbol) => symbol.to_owned(),
            (false, symbol) => format!("{} ({symbol})", self.name),
        }
    }
}

/// Steps of a unit, the largest first: how much of the base unit, and the symbol.
type Steps = &'static [(f64, &'static str)];

const TIMES: Steps = &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
const SIZES: Steps = &[
    (1_125_899_906_842_624.0, "PiB"),
    (1_099_511_627_776.0, "TiB"),
    (1_073_741_824.0, "GiB"),
    (1_048_576.0, "MiB"),
    (1024.0, "KiB"),
    (1.0, "B"),
];
const RATES: Steps = &[(1e3, "TB/s"), (1.0, "GB/s"), (1e-3, "MB/s"), (1e-6, "kB/s")];
const FLOPS: Steps = &[(1e6, "PFLOP/s"), (1e3, "TFLOP/s"), (1.0, "GFLOP/s"), (1e-3, "MFLOP/s"), (1e-6, "kFLOP/s")];

/// The unit in which numbers of an axis are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DisplayUnit {
    /// Its size in the base unit.
    pub factor: f64,
    /// Its symbol, empty for numbers without one.
    pub symbol: &'static str,
    /// Whether large and small numbers get SI prefixes.
    prefixed: bool,
}

impl DisplayUnit {
    /// The unit for values up to `greatest`.
    pub fn new(unit: Unit, greatest: f64) -> Self {
        let steps = match unit {
            Unit::Nanoseconds => TIMES,
            Unit::Bytes => SIZES,
            Unit::GigabytesPerSecond => RATES,
            Unit::Gflops => FLOPS,
            Unit::Percent => return Self { factor: 1.0, symbol: "%", prefixed: false },
            Unit::FlopsPerByte => return Self { factor: 1.0, symbol: "FLOP/byte", prefixed: true },
            Unit::Count | Unit::Number => return Self { factor: 1.0, symbol: "", prefixed: true },
        };
        let base = steps.iter().find(|(factor, _)| *factor == 1.0).or(steps.last());
        // A value that rounds up to the next unit is written in that unit.
        let fitting = steps.iter().find(|(factor, _)| greatest.abs() >= factor * 0.9995);
        let least = if greatest == 0.0 || !greatest.is_finite() { base } else { steps.last() };
        let (factor, symbol) = fitting.or(least).copied().unwrap_or((1.0, ""));
        Self { factor, symbol, prefixed: false }
    }

    /// A value of the base unit, without the symbol.
    pub fn number(&self, value: f64) -> String {
        let value = value / self.factor;
        if self.prefixed { with_prefix(value) } else { significant(value) }
    }
}

/// A value with its unit: `1.25 ms`, `37%`, `12.3 k`.
pub fn shown(unit: Unit, value: f64) -> String {
    let shown = DisplayUnit::new(unit, value);
    let number = shown.number(value);
    match shown.symbol {
        "" => number,
        "%" => format!("{number}%"),
        symbol => format!("{number}\u{a0}{symbol}"),
    }
}

/// Whole numbers below 10,000 without a prefix, other numbers with SI prefixes.
fn with_prefix(value: f64) -> String {
    if !value.is_finite() {
        return significant(value);
    }
    let size = value.abs();
    if size < 9_999.5 && (size >= 0.000_999_5 || size == 0.0) {
        return significant(value);
    }
    let prefixes = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p")];
    match prefixes.iter().find(|(factor, _)| size >= factor * 0.9995) {
        Some((factor, prefix)) if size < 1e16 => format!("{}{prefix}", significant(value / factor)),
        _ => format!("{value:.2e}"),
    }
}

/// Three significant digits without trailing zeros; whole numbers below 10,000 are written out.
fn significant(value: f64) -> String {
    if !value.is_finite() {
        return "unknown".to_owned();
    }
    let size = value.abs();
    if size >= 1e6 || (size < 0.000_999_5 && size > 0.0) {
        return format!("{value:.2e}");
    }
    let decimals = match size {
        _ if size >= 99.95 || size == 0.0 => 0,
        _ if size >= 9.995 => 1,
        _ if size >= 0.9995 => 2,
        _ if size >= 0.09995 => 3,
        _ if size >= 0.009995 => 4,
        _ => 5,
    };
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_unit_that_fits() {
        for (value, text) in [
            (0.0, "0\u{a0}ns"),
            (0.5, "0.5\u{a0}ns"),
            (999.4, "999\u{a0}ns"),
            (999.9, "1\u{a0}µs"),
            (1_250_000.0, "1.25\u{a0}ms"),
            (7.2e12, "7200\u{a0}s"),
            (-2_000.0, "-2\u{a0}µs"),
            (f64::NAN, "unknown\u{a0}ns"),
        ] {
            assert_eq!(shown(Unit::Nanoseconds, value), text);
        }
        assert_eq!(shown(Unit::Bytes, 1536.0), "1.5\u{a0}KiB");
        assert_eq!(shown(Unit::Count, 12_345.0), "12.3k");
        assert_eq!(shown(Unit::Count, 1_234.0), "1234");
        assert_eq!(shown(Unit::Gflops, 1.3e6), "1.3\u{a0}PFLOP/s");
        assert_eq!(shown(Unit::Percent, 33.333), "33.3%");
        assert_eq!(Axis::time("duration").label(2e6), "duration (ms)");
    }
}
