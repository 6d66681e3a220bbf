//! Bins of equal width over a span.

use std::collections::BTreeMap;

/// Time by kind and bin.
#[derive(Clone, Debug, Default)]
pub struct Bins {
    span_ns: i64,
    count: usize,
    /// By kind.
    pub times_ns: BTreeMap<u16, Vec<i64>>,
}

impl Bins {
    /// Empty bins over `[0, span_ns)`.
    pub fn new(span_ns: i64, count: usize) -> Self {
        Self { span_ns: span_ns.max(1), count: count.max(1), times_ns: BTreeMap::new() }
    }

    /// Start of a bin; the end of the last one is the span.
    pub fn start_ns(&self, bin: usize) -> i64 {
        let start = bin as i128 * i128::from(self.span_ns) / self.count as i128;
        i64::try_from(start).unwrap_or(i64::MAX)
    }

    /// The bin of a time within the span.
    fn at(&self, time_ns: i64) -> usize {
        // The last bin that starts at or before the time: starts are rounded down.
        let place = ((i128::from(time_ns) + 1) * self.count as i128 - 1) / i128::from(self.span_ns);
        usize::try_from(place).unwrap_or(0).min(self.count.saturating_sub(1))
    }

    /// Adds an interval.
    pub fn add(&mut self, start_ns: i64, end_ns: i64, kind: u16) {
        let (mut from_ns, end_ns) = (start_ns.max(0), end_ns.min(self.span_ns));
        if from_ns >= end_ns {
            return;
        }
        let mut bin = self.at(from_ns);
        let mut times = self.times_ns.remove(&kind).unwrap_or_else(|| vec![0; self.count]);
        while from_ns < end_ns && bin < self.count {
            let to_ns = self.start_ns(bin + 1).min(end_ns);
            if let Some(time) = times.get_mut(bin) {
                *time += to_ns - from_ns;
            }
            (from_ns, bin) = (to_ns, bin + 1);
        }
        self.times_ns.insert(kind, times);
    }

    /// The shares of a kind in 255ths of each bin.
    pub fn shares(&self, kind: u16) -> Vec<u8> {
        let times = self.times_ns.get(&kind).map(Vec::as_slice).unwrap_or_default();
        let share = |(bin, time_ns): (usize, &i64)| {
            let width = i128::from(self.start_ns(bin + 1) - self.start_ns(bin)).max(1);
            u8::try_from((i128::from(*time_ns) * 510 + width) / (2 * width)).unwrap_or(u8::MAX)
        };
        times.iter().enumerate().map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bins_have_the_time_of_every_nanosecond(
            span_ns in 1_i64..400, count in 1_usize..40, start_ns in -20_i64..420, length_ns in 0_i64..300,
        ) {
            let mut bins = Bins::new(span_ns, count);
            bins.add(start_ns, start_ns + length_ns, 3);
            let expected = |bin: usize| (bins.start_ns(bin)..bins.start_ns(bin + 1))
                .filter(|at| (start_ns..start_ns + length_ns).contains(at)).count() as i64;
            for bin in 0..count {
                let time_ns = bins.times_ns.get(&3).map_or(0, |times| times[bin]);
                prop_assert_eq!(time_ns, expected(bin), "bin {}", bin);
            }
        }
    }
}
