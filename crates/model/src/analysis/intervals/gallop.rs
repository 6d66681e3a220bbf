//! A search that continues from the last result.

/// The first place from `from` on for which `is_before` is false, or `len`. `is_before` must be true up to some place
/// and false from there. Takes `O(log d)` for a place that is `d` further.
pub fn gallop(from: usize, len: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let mut low = from;
    let mut step = 1;
    while low < len && is_before(low) {
        let next = low.saturating_add(step);
        if next >= len || !is_before(next) {
            let (mut low, mut high) = (low + 1, next.min(len));
            while low < high {
                let middle = low + (high - low) / 2;
                if is_before(middle) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low;
        }
        low = next;
        step *= 2;
    }
    low.min(len)
}

/// Same as [`gallop`] from 0 on, but searches forward or back from `near`, which is about the place. Takes `O(log d)`
/// for a place that is `d` off.
pub fn gallop_near(near: usize, len: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let near = near.min(len);
    // Backwards, the places that are not before come first.
    match gallop(0, near, |back| !is_before(near - 1 - back)) {
        0 => gallop(near, len, is_before),
        back => near - back,
    }
}

#[cfg(test)]
mod tests {
    use super::{gallop, gallop_near};

    #[test]
    fn finds_the_edge_from_everywhere_before_it() {
        for len in 0..40 {
            for edge in 0..=len {
                for from in 0..=edge {
                    assert_eq!(gallop(from, len, |place| place < edge), edge, "{from} {edge} {len}");
                }
                for near in 0..len + 2 {
                    assert_eq!(gallop_near(near, len, |place| place < edge), edge, "{near} {edge} {len}");
                }
                assert_eq!(gallop(len, len, |place| place < edge), len);
            }
        }
    }
}
