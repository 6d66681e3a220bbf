//! Exact statistics of integers. They do not depend on the order of the integers or on the thread that adds them.

/// Integers of one group.
#[derive(Clone, Debug)]
pub struct Statistics {
    count: u64,
    sum: i128,
    squares: u128,
    min: i64,
    max: i64,
    overflow: bool,
}

impl Default for Statistics {
    fn default() -> Self {
        Self { count: 0, sum: 0, squares: 0, min: i64::MAX, max: i64::MIN, overflow: false }
    }
}

impl Statistics {
    /// Adds an integer; enough if the deviation is not requested.
    pub fn add(&mut self, value: i64) {
        self.count += 1;
        self.sum += i128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds an integer and its square, which the deviation needs.
    pub(crate) fn add_squared(&mut self, value: i64) {
        self.add(value);
        let magnitude = u128::from(value.unsigned_abs());
        let (squares, overflow) = self.squares.overflowing_add(magnitude * magnitude);
        self.squares = squares;
        self.overflow |= overflow;
    }

    /// Adds all integers of another group.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        let (squares, overflow) = self.squares.overflowing_add(other.squares);
        self.squares = squares;
        self.overflow |= overflow | other.overflow;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Number of integers.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum; `None` without integers. Fails if the sum is out of range.
    pub fn sum(&self) -> Result<Option<i64>, OutOfRange> {
        if self.count == 0 {
            return Ok(None);
        }
        i64::try_from(self.sum).map(Some).map_err(|_| OutOfRange)
    }

    /// The smallest integer; `None` without integers.
    pub fn min(&self) -> Option<i64> {
        (self.count > 0).then_some(self.min)
    }

    /// The largest integer; `None` without integers.
    pub fn max(&self) -> Option<i64> {
        (self.count > 0).then_some(self.max)
    }

    /// The sample standard deviation of the integers added with squares; `None` for fewer than two. Fails if the sum of squares is out of
    /// range.
    pub fn deviation(&self) -> Result<Option<f64>, OutOfRange> {
        Ok(self.variance(1)?.map(f64::sqrt))
    }

    /// The variance of the integers added with squares, with `degrees` of freedom lost; `None` if there are no more integers than
    /// `degrees`. Fails if the sum of squares is out of range.
    pub fn variance(&self, degrees: u8) -> Result<Option<f64>, OutOfRange> {
        if self.count <= u64::from(degrees) {
            return Ok(None);
        }
        // n Σx² − (Σx)², which is exact in integers where floats would cancel.
        let count = u128::from(self.count);
        let scaled = count.checked_mul(self.squares).filter(|_| !self.overflow).ok_or(OutOfRange)?;
        let square = self.sum.unsigned_abs().checked_pow(2).ok_or(OutOfRange)?;
        let spread = scaled.checked_sub(square).ok_or(OutOfRange)?;
        Ok(Some(spread as f64 / (count * (count - u128::from(degrees))) as f64))
    }
}

/// A result that integers of 64 or 128 bits cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfRange;

/// Vectors of at least this length are kept as they are; shorter ones are merged.
const MANY: usize = 1024;

/// All integers of one group, in four bytes each if these are enough.
#[derive(Clone, Debug, Default)]
pub struct Values {
    small: Vec<i32>,
    /// Further small integers, which are not merged until needed.
    more: Vec<Vec<i32>>,
    others: Vec<i64>,
}

impl Values {
    /// Adds an integer.
    pub fn add(&mut self, value: i64) {
        match i32::try_from(value) {
            Ok(small) => self.small.push(small),
            Err(_) => self.others.push(value),
        }
    }

    /// Adds all integers of another group.
    pub fn merge(&mut self, mut other: Self) {
        if other.small.len() >= MANY {
            other.small.shrink_to_fit();
            self.more.push(other.small);
        } else {
            self.small.append(&mut other.small);
        }
        self.more.append(&mut other.more);
        self.others.append(&mut other.others);
    }

    /// The median, or the mean of the two middle values for an even number; `None` without integers.
    pub fn median(&mut self) -> Option<f64> {
        let count = self.gather();
        let (below, above) = self.neighbors(count.checked_sub(1)? / 2)?;
        Some(if count % 2 == 1 { below } else { (below + above) / 2.0 })
    }

    /// The interpolated value below which a share of all lies; `None` without integers.
    pub fn quantile(&mut self, share: f64) -> Option<f64> {
        let count = self.gather();
        let position = count.checked_sub(1)? as f64 * share;
        let (below, above) = self.neighbors(position as usize)?;
        Some(below + (above - below) * position.fract())
    }

    /// Merges all integers and returns their number.
    fn gather(&mut self) -> usize {
        self.small.reserve_exact(self.more.iter().map(Vec::len).sum());
        for more in std::mem::take(&mut self.more) {
            self.small.extend_from_slice(&more);
        }
        if !self.others.is_empty() {
            self.others.extend(std::mem::take(&mut self.small).into_iter().map(i64::from));
        }
        self.small.len() + self.others.len()
    }

    /// The value at a place in sorted order, and the next value; the last value is its own next. All integers must be gathered.
    fn neighbors(&mut self, place: usize) -> Option<(f64, f64)> {
        fn pair_at<T: Ord + Copy>(values: &mut [T], place: usize) -> Option<(T, T)> {
            let (_, at, after) = (place < values.len()).then(|| values.select_nth_unstable(place))?;
            Some((*at, after.iter().min().copied().unwrap_or(*at)))
        }
        if self.others.is_empty() {
            return pair_at(&mut self.small, place).map(|(at, next)| (f64::from(at), f64::from(next)));
        }
        pair_at(&mut self.others, place).map(|(at, next)| (at as f64, next as f64))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn collect(values: &[i64]) -> (Statistics, Values) {
        let (mut statistics, mut all) = (Statistics::default(), Values::default());
        for value in values {
            statistics.add_squared(*value);
            all.add(*value);
        }
        (statistics, all)
    }

    #[test]
    fn of_few() {
        let (statistics, mut values) = collect(&[]);
        assert_eq!((statistics.sum(), statistics.min(), values.median()), (Ok(None), None, None));
        let (statistics, mut values) = collect(&[7]);
        assert_eq!((statistics.deviation(), values.median()), (Ok(None), Some(7.0)));
        assert_eq!(collect(&[2, 4, 4, 4, 5, 5, 7, 9]).0.deviation(), Ok(Some((32.0_f64 / 7.0).sqrt())));
        assert_eq!(collect(&[i64::MAX, 1]).0.sum(), Err(OutOfRange));
        assert_eq!(collect(&[i64::MIN, i64::MAX, i64::MAX]).0.deviation(), Err(OutOfRange));
    }

    proptest! {
        #[test]
        fn as_by_the_definitions(values in prop::collection::vec(-1_000_000_000_000_i64..10_000_000_000, 1..60), cut in 0_usize..60) {
            let (left, right) = values.split_at(cut.min(values.len()));
            let ((mut statistics, mut all), (more, others)) = (collect(left), collect(right));
            statistics.merge(&more);
            all.merge(others);
            let count = values.len() as f64;
            prop_assert_eq!(statistics.sum(), Ok(Some(values.iter().sum())));
            prop_assert_eq!(statistics.min(), values.iter().min().copied());
            prop_assert_eq!(statistics.max(), values.iter().max().copied());
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let middle = (sorted[(sorted.len() - 1) / 2] as f64 + sorted[sorted.len() / 2] as f64) / 2.0;
            prop_assert_eq!(all.median(), Some(middle));
            for share in [0.0, 0.25, 0.95, 1.0] {
                let position = (sorted.len() - 1) as f64 * share;
                let (below, above) = (sorted[position.floor() as usize] as f64, sorted[position.ceil() as usize] as f64);
                prop_assert_eq!(all.quantile(share), Some(below + (above - below) * position.fract()), "{}", share);
            }
            // Enough to be kept as they were added.
            let mut often = (0..3).fold(Values::default(), |mut often, _| {
                let mut part = Values::default();
                (0..MANY).for_each(|_| sorted.iter().for_each(|value| part.add(*value)));
                often.merge(part);
                often
            });
            let repeated = 3 * MANY * sorted.len();
            let nth = |place: usize| sorted[place / (3 * MANY)] as f64;
            prop_assert_eq!(often.median(), Some((nth((repeated - 1) / 2) + nth(repeated / 2)) / 2.0));
            if let Ok(Some(deviation)) = statistics.deviation() {
                let mean = values.iter().sum::<i64>() as f64 / count;
                let spread: f64 = values.iter().map(|value| (*value as f64 - mean).powi(2)).sum();
                let expected = (spread / (count - 1.0)).sqrt();
                prop_assert!((deviation - expected).abs() <= expected * 1e-9 + 1e-6, "{deviation} {expected}");
            }
        }
    }
}
