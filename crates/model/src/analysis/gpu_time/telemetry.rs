//! Clock, power and temperature of GPUs from samples, and their means over intervals.

/// A quantity that a sample measures, in MHz, watts and degrees Celsius.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Clock of the compute units.
    Clock,
    Power,
    Temperature,
}

/// Parts of the names of clocks other than the compute units' clock.
const OTHER_CLOCKS: [&str; 9] = ["mem", "mclk", "uclk", "fclk", "socclk", "vclk", "dclk", "cpu", "fabric"];
/// Parts of the names of power values that are not a power draw.
const OTHER_POWERS: [&str; 4] = ["cap", "limit", "max", "default"];

/// The quantity of a metric and the factor to its unit, inferred from the metric's name and unit.
pub fn quantity(name: &str, unit: Option<&str>) -> Option<(Quantity, f64)> {
    let name = name.to_lowercase();
    let unit = unit.map(|unit| unit.trim().to_lowercase()).unwrap_or_default();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let of_unit = match unit.as_str() {
        "mhz" => Some((Quantity::Clock, 1.0)),
        "ghz" => Some((Quantity::Clock, 1e3)),
        "khz" => Some((Quantity::Clock, 1e-3)),
        "hz" => Some((Quantity::Clock, 1e-6)),
        "w" | "watt" | "watts" => Some((Quantity::Power, 1.0)),
        "mw" | "milliwatts" => Some((Quantity::Power, 1e-3)),
        "uw" | "µw" | "microwatts" => Some((Quantity::Power, 1e-6)),
        "c" | "°c" | "celsius" | "degrees c" | "degc" | "deg c" => Some((Quantity::Temperature, 1.0)),
        "" if has(&["clk", "clock", "freq"]) => Some((Quantity::Clock, 1.0)),
        "" if has(&["power"]) => Some((Quantity::Power, 1.0)),
        "" if has(&["temp"]) => Some((Quantity::Temperature, 1.0)),
        _ => None,
    };
    of_unit.filter(|(quantity, _)| match quantity {
        Quantity::Clock => !has(&OTHER_CLOCKS),
        Quantity::Power => !has(&OTHER_POWERS),
        Quantity::Temperature => true,
    })
}

/// A value that holds from each sample to the next, and from the last one on. Before the first it is not known.
#[derive(Debug, Default)]
pub struct StepSeries {
    /// Time, value, and integral up to the time, in the order of time.
    steps: Vec<(i64, f64, f64)>,
}

impl StepSeries {
    /// Creates it from samples in any order; of samples at the same time, the last one counts.
    pub fn new(mut samples: Vec<(i64, f64)>) -> Self {
        samples.retain(|(_, value)| value.is_finite());
        samples.sort_by_key(|(time_ns, _)| *time_ns);
        let mut steps: Vec<(i64, f64, f64)> = Vec::with_capacity(samples.len());
        for (time_ns, value) in samples {
            let area = steps.last().map_or(0.0, |(before, held, area)| area + held * length(*before, time_ns));
            steps.push((time_ns, value, area));
        }
        Self { steps }
    }

    /// Mean over the part of an interval where the value is known; the value itself if that part has no length.
    pub fn mean(&self, start_ns: i64, end_ns: i64) -> Option<f64> {
        let start_ns = start_ns.max(self.steps.first()?.0);
        if end_ns < start_ns {
            return None;
        }
        let (value, area) = self.at(start_ns)?;
        if start_ns == end_ns {
            return Some(value);
        }
        let last = self.steps.partition_point(|(time_ns, ..)| *time_ns < end_ns);
        let first = self.steps.partition_point(|(time_ns, ..)| *time_ns <= start_ns);
        if last <= first {
            return Some(value);
        }
        Some((self.at(end_ns)?.1 - area) / length(start_ns, end_ns))
    }

    /// The value at a time, and the integral up to it.
    fn at(&self, time_ns: i64) -> Option<(f64, f64)> {
        let next = self.steps.partition_point(|(sampled_ns, ..)| *sampled_ns <= time_ns);
        let (sampled_ns, value, area) = self.steps.get(next.checked_sub(1)?)?;
        Some((*value, area + value * length(*sampled_ns, time_ns)))
    }
}

fn length(from_ns: i64, to_ns: i64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn means_match_the_sum_over_every_nanosecond(
            samples in prop::collection::vec((0_i64..40, 1_i32..9), 0..8), start in 0_i64..50, length in 0_i64..20,
        ) {
            let samples: Vec<(i64, f64)> = samples.into_iter().map(|(time, value)| (time, f64::from(value))).collect();
            let value_at = |time: i64| {
                let mut before: Vec<&(i64, f64)> = samples.iter().filter(|(sampled, _)| *sampled <= time).collect();
                before.sort_by_key(|(sampled, _)| *sampled);
                before.last().map(|(_, value)| *value)
            };
            let known: Vec<f64> = (start..start + length.max(1)).filter_map(value_at).collect();
            let expected = match known.as_slice() {
                [] if length > 0 => value_at(start + length),
                [] => None,
                known => Some(known.iter().sum::<f64>() / known.len() as f64),
            };
            let found = StepSeries::new(samples.clone()).mean(start, start + length);
            prop_assert_eq!(found.is_some(), expected.is_some());
            if let (Some(found), Some(expected)) = (found, expected) {
                prop_assert!((found - expected).abs() < 1e-9, "{} is not {}", found, expected);
            }
        }
    }

    #[test]
    fn names_and_units() {
        assert_eq!(quantity("sclk", Some("MHz")), Some((Quantity::Clock, 1.0)));
        assert_eq!(quantity("mclk", Some("MHz")), None);
        assert_eq!(quantity("GFX Clock", None), Some((Quantity::Clock, 1.0)));
        assert_eq!(quantity("Current Power", Some("Watts")), Some((Quantity::Power, 1.0)));
        assert_eq!(quantity("Power Cap", Some("W")), None);
        assert_eq!(quantity("Temperature", Some("C")), Some((Quantity::Temperature, 1.0)));
        assert_eq!(quantity("Busy", Some("%")), None);
    }
}
