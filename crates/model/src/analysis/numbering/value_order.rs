//! The order of dispatch numbers, which mostly have no gaps.

const NONE: u32 = u32::MAX;
/// Maximum spread of the numbers, for each value, for a table.
const WIDEST_TABLE: usize = 4;

/// Places of values in order, the first of equal ones first; `None` if that is the given order. Takes linear time if
/// values are close to one another and all different, otherwise `O(n log n)`.
pub fn order_of(values: &[i64]) -> Option<Vec<u32>> {
    if values.is_sorted() {
        return None;
    }
    places_of_different(values).or_else(|| {
        let mut order: Vec<(i64, u32)> = values.iter().copied().zip(0..).collect();
        order.sort_unstable();
        Some(order.into_iter().map(|(_, place)| place).collect())
    })
}

/// The same for values that are close to one another and all different, in linear time; `None` for others.
fn places_of_different(values: &[i64]) -> Option<Vec<u32>> {
    let (least, greatest) = (values.iter().min()?, values.iter().max()?);
    let most = values.len().saturating_mul(WIDEST_TABLE);
    let span = usize::try_from(greatest.abs_diff(*least)).ok().filter(|span| *span < most)?;
    let mut places = vec![NONE; span + 1];
    for (place, value) in (0..).zip(values) {
        let slot = places.get_mut(usize::try_from(value.abs_diff(*least)).ok()?)?;
        if *slot != NONE {
            return None;
        }
        *slot = place;
    }
    places.retain(|place| *place != NONE);
    places.shrink_to_fit();
    Some(places)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn values_are_put_in_order(
            mut values in prop::collection::vec(prop_oneof![-9_i64..9, 0_i64..99, any::<i64>()], 0..30),
            are_different in any::<bool>(),
        ) {
            if are_different {
                values = values.into_iter().collect::<BTreeSet<i64>>().into_iter().rev().collect();
            }
            let mut expected: Vec<u32> = (0..values.len() as u32).collect();
            expected.sort_by_key(|place| values[*place as usize]);
            prop_assert_eq!(order_of(&values), (!values.is_sorted()).then_some(expected.clone()));
            let found = places_of_different(&values);
            prop_assert!(found.is_none_or(|places| places == expected));
        }

        #[test]
        fn dispatches_need_no_sorting(count in 1_i64..50, step in 1_i64..4, first in any::<i32>()) {
            let values: Vec<i64> = (0..count).map(|place| i64::from(first) + (count - place) * step).collect();
            let expected: Vec<u32> = (0..count as u32).rev().collect();
            prop_assert_eq!(places_of_different(&values), Some(expected));
        }
    }
}
