//! Histograms like those of numpy.

/// A bin: from, to, and how many values are in it.
pub type Bin = (f64, f64, i64);

/// Bins of equal width from the smallest to the largest value; only the last includes its end. Empty without values.
pub fn histogram(values: &[i64], bins: usize) -> Vec<Bin> {
    let (Some(least), Some(greatest)) = (values.iter().min(), values.iter().max()) else { return Vec::new() };
    let (mut low, mut high) = (*least as f64, *greatest as f64);
    if least == greatest {
        (low, high) = (low - 0.5, high + 0.5);
    }
    let count = bins as f64;
    let step = (high - low) / count;
    let edge = |place: usize| if place >= bins { high } else { place as f64 * step + low };
    let mut found: Vec<Bin> = (0..bins).map(|place| (edge(place), edge(place + 1), 0)).collect();
    for value in values.iter().map(|value| *value as f64) {
        let mut place = ((value - low) / (high - low) * count) as usize;
        place = place.min(bins.saturating_sub(1));
        // The division rounds, so the edges decide.
        if place > 0 && value < edge(place) {
            place -= 1;
        } else if place + 1 < bins && value >= edge(place + 1) {
            place += 1;
        }
        if let Some(bin) = found.get_mut(place) {
            bin.2 += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::histogram;

    #[test]
    fn bins_are_those_of_numpy() {
        assert_eq!(histogram(&[1, 2, 3, 4], 3), [(1.0, 2.0, 1), (2.0, 3.0, 1), (3.0, 4.0, 2)]);
        assert_eq!(histogram(&[5, 5], 2), [(4.5, 5.0, 0), (5.0, 5.5, 2)]);
        assert_eq!(histogram(&[7], 1), [(6.5, 7.5, 1)]);
        assert!(histogram(&[], 4).is_empty());
        let counts: i64 = histogram(&(0..1000).collect::<Vec<i64>>(), 7).iter().map(|bin| bin.2).sum();
        assert_eq!(counts, 1000);
    }
}
