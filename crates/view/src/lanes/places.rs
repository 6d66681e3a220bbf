//! Rows of events that overlap.

use super::event::Event;

/// Maximum number of rows of a lane.
const MAX_ROWS: usize = 256;

/// How events share rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    /// In the lowest free row, such as kernels of a stream.
    Lowest,
    /// Below all that run, such as nested calls.
    Nested,
}

/// Divides events into rows without overlaps. Returns the rows and the number of events that found none.
pub fn rows(mut events: Vec<Event>, placing: Placing) -> (Vec<Vec<Event>>, usize) {
    events.sort_by_key(|event| (event.start_ns, -event.length_ns, event.id));
    let mut rows: Vec<Vec<Event>> = Vec::new();
    let mut ends: Vec<i64> = Vec::new();
    let mut omitted = 0;
    for event in events {
        let place = match placing {
            Placing::Lowest => ends.iter().position(|end_ns| *end_ns <= event.start_ns).unwrap_or(ends.len()),
            Placing::Nested => {
                let last = ends.iter().rposition(|end_ns| *end_ns > event.start_ns);
                last.map_or(0, |last| last + 1)
            }
        };
        if place >= MAX_ROWS {
            omitted += 1;
            continue;
        }
        if place >= rows.len() {
            rows.resize_with(place + 1, Vec::new);
            ends.resize(place + 1, i64::MIN);
        }
        if let (Some(row), Some(end_ns)) = (rows.get_mut(place), ends.get_mut(place)) {
            *end_ns = event.end_ns();
            row.push(event);
        }
    }
    (rows, omitted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(times: &[(i64, i64)], placing: Placing) -> Vec<Vec<(i64, i64)>> {
        let events = times.iter().zip(0..).map(|(times, id)| Event::one(*times, id, 1, 0, 0)).collect();
        let times = |row: Vec<Event>| row.iter().map(|event| (event.start_ns, event.end_ns())).collect();
        rows(events, placing).0.into_iter().map(times).collect()
    }

    #[test]
    fn overlapping_events_have_rows_of_their_own() {
        let times = [(0, 10), (2, 8), (3, 4), (8, 20), (10, 11)];
        let lowest = [vec![(0, 10), (10, 11)], vec![(2, 8), (8, 20)], vec![(3, 4)]];
        assert_eq!(placed(&times, Placing::Lowest), lowest);
        let nested = [vec![(0, 10)], vec![(2, 8), (8, 20)], vec![(3, 4), (10, 11)]];
        assert_eq!(placed(&times, Placing::Nested), nested);
    }

    #[test]
    fn the_number_of_rows_is_limited() {
        let events = (0..400).map(|at| Event::one((at, 1_000), at, 1, 0, 0)).collect();
        let (rows, omitted) = rows(events, Placing::Nested);
        assert_eq!((rows.len(), omitted), (256, 144));
    }
}
