//! The next rows in the lane of each row.

/// Number of followers of each row.
pub const FOLLOWERS: usize = 3;

/// Stands for no row.
pub const NO_ROW: u32 = u32::MAX;

/// The next rows of the lane of each row, nearest first, and [`NO_ROW`] if there are no more. Lanes have small numbers.
/// `order` has all rows in the order in which they come; `None` means the given order.
///
/// Takes linear time.
pub fn followers(lanes: &[u32], order: Option<&[u32]>) -> Vec<[u32; FOLLOWERS]> {
    let mut all = vec![[NO_ROW; FOLLOWERS]; lanes.len()];
    let count = lanes.iter().max().map_or(0, |greatest| *greatest as usize + 1);
    // The next rows in each lane, seen from the end.
    let mut next = vec![[NO_ROW; FOLLOWERS]; count];
    let mut see = |row: u32| {
        let lane = lanes.get(row as usize).map(|lane| *lane as usize);
        if let (Some(next), Some(following)) = (lane.and_then(|lane| next.get_mut(lane)), all.get_mut(row as usize)) {
            *following = *next;
            let [first, second, _] = *next;
            *next = [row, first, second];
        }
    };
    match order {
        Some(order) => order.iter().rev().for_each(|row| see(*row)),
        None => (0..lanes.len() as u32).rev().for_each(see),
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::queues::order::start_order;

    fn by_definition(rows: &[(u32, u8)]) -> Vec<[u32; FOLLOWERS]> {
        let place = |row: usize| (rows[row].1, row);
        let following = |row: usize| {
            let mut later: Vec<usize> =
                (0..rows.len()).filter(|other| rows[*other].0 == rows[row].0 && place(*other) > place(row)).collect();
            later.sort_by_key(|row| place(*row));
            [0, 1, 2].map(|at| later.get(at).map_or(NO_ROW, |row| *row as u32))
        };
        (0..rows.len()).map(following).collect()
    }

    proptest! {
        #[test]
        fn matches_the_definition(
            rows in prop::collection::vec((0_u32..3, 0_u8..20), 0..40),
            sorted in any::<bool>(),
        ) {
            let mut rows = rows;
            if sorted {
                rows.sort_by_key(|(_, start)| *start);
            }
            let lanes: Vec<u32> = rows.iter().map(|(lane, _)| *lane).collect();
            let order = start_order(rows.len(), |row| Some(i64::from(rows[row].1)), |_| None);
            prop_assert!(!sorted || order.is_none());
            prop_assert_eq!(followers(&lanes, order.as_deref()), by_definition(&rows));
        }
    }

    #[test]
    fn the_next_three_of_a_lane_are_found() {
        let none = NO_ROW;
        assert_eq!(
            followers(&[0, 1, 0, 0, 0, 0], None),
            [[2, 3, 4], [none; 3], [3, 4, 5], [4, 5, none], [5, none, none], [none; 3]]
        );
        assert_eq!(followers(&[0, 0], Some(&[1, 0])), [[none; 3], [0, none, none]]);
        assert_eq!(followers(&[], None), Vec::<[u32; 3]>::new());
    }
}
