//! Blocks of consecutive values. Durations of neighboring dispatches depend on each other, so single values would seem
//! more certain than they are. Means of long blocks hardly depend on each other.

use super::trimmed::{Estimate, mean, sum_of_squares, trimmed_mean};

/// Blocks that values are divided into.
pub(crate) const MAX_BLOCKS: usize = 10;

/// Trimmed means of up to ten consecutive blocks of nearly equal size.
pub fn block_means(values: &[f64]) -> Vec<f64> {
    let blocks = values.len().min(MAX_BLOCKS);
    let bound = |block: usize| values.len() * block / blocks.max(1);
    let block = |block: usize| values.get(bound(block)..bound(block + 1)).and_then(trimmed_mean);
    (0..blocks).filter_map(block).collect()
}

/// A value with the standard error that its blocks show; `None` below three blocks.
pub fn block_estimate(value: f64, blocks: &[f64]) -> Option<Estimate> {
    let (count, degrees) = (blocks.len() as f64, blocks.len().checked_sub(1)? as f64);
    if degrees < 2.0 {
        return None;
    }
    Some(Estimate { value, standard_error: (sum_of_squares(blocks)? / (degrees * count)).sqrt(), degrees })
}

/// The mean of blocks with its standard error.
pub fn mean_of_blocks(blocks: &[f64]) -> Option<Estimate> {
    block_estimate(mean(blocks)?, blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_divided_evenly() {
        let values: Vec<f64> = (0..25).map(f64::from).collect();
        let blocks = block_means(&values);
        assert_eq!(blocks.len(), 10);
        assert_eq!((blocks[0], blocks[9]), (0.5, 23.0));
        assert_eq!(block_means(&[4.0, 6.0]), [4.0, 6.0]);
        assert_eq!(block_means(&[]), [0.0_f64; 0]);
    }

    #[test]
    fn the_error_is_that_of_the_blocks() {
        let estimate = mean_of_blocks(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((estimate.value, estimate.degrees), (2.5, 3.0));
        assert!((estimate.standard_error - (5.0_f64 / 12.0).sqrt()).abs() < 1e-15);
        assert_eq!(mean_of_blocks(&[1.0, 2.0]), None);
    }
}
