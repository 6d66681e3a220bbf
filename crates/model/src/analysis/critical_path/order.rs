//! All moments of a graph in an order in which causes come before what they cause.

use crate::analysis::critical_path::graph::{Call, Point, Work};

/// Moments as numbers, in the order of time. At the same time work ends first, then calls return, then calls start,
/// then work starts. Moments without length start and end there at once.
pub fn sequence(work: &[Work], calls: &[Call]) -> Vec<u32> {
    let mut call_starts: Vec<u32> = (0..calls.len() as u32).collect();
    let start_of = |place: &u32| calls.get(*place as usize).map(|call| call.start_ns);
    call_starts.sort_by_key(start_of);
    let lasting = |places: usize, lasts: &dyn Fn(usize) -> bool| -> Vec<u32> {
        (0..places).filter(|place| lasts(*place)).map(|place| place as u32).collect()
    };
    let work_end = |place: &u32| work.get(*place as usize).map(|work| work.end_ns);
    let call_end = |place: &u32| calls.get(*place as usize).map(|call| call.end_ns);
    let mut work_ends = lasting(work.len(), &|at| work.get(at).is_some_and(|work| work.end_ns > work.start_ns));
    let mut call_ends = lasting(calls.len(), &|at| calls.get(at).is_some_and(|call| call.end_ns > call.start_ns));
    work_ends.sort_by_key(work_end);
    call_ends.sort_by_key(call_end);

    let mut sequence = Vec::with_capacity(2 * (work.len() + calls.len()));
    let mut ends = work_ends.into_iter().peekable();
    let mut returns = call_ends.into_iter().peekable();
    let mut begins = call_starts.into_iter().peekable();
    let mut starts = (0..work.len() as u32).peekable();
    loop {
        let next = [
            ends.peek().and_then(work_end),
            returns.peek().and_then(call_end),
            begins.peek().and_then(start_of),
            starts.peek().and_then(|place| work.get(*place as usize)).map(|work| work.start_ns),
        ];
        let earliest = (0_u8..).zip(next).filter_map(|(class, time_ns)| Some((time_ns?, class))).min();
        let Some((time_ns, class)) = earliest else { return sequence };
        match class {
            0 => sequence.extend(ends.next().map(|place| code(Point::WorkEnd(place)))),
            1 => sequence.extend(returns.next().map(|place| code(Point::CallEnd(place)))),
            2 => {
                if let Some(place) = begins.next() {
                    sequence.push(code(Point::CallStart(place)));
                    if call_end(&place) == Some(time_ns) {
                        sequence.push(code(Point::CallEnd(place)));
                    }
                }
            }
            _ => {
                if let Some(place) = starts.next() {
                    sequence.push(code(Point::WorkStart(place)));
                    if work_end(&place) == Some(time_ns) {
                        sequence.push(code(Point::WorkEnd(place)));
                    }
                }
            }
        }
    }
}

/// Encodes the kind of a moment and a place below 2³⁰ in one number.
fn code(point: Point) -> u32 {
    match point {
        Point::WorkStart(place) => place << 2,
        Point::WorkEnd(place) => place << 2 | 1,
        Point::CallStart(place) => place << 2 | 2,
        Point::CallEnd(place) => place << 2 | 3,
    }
}

/// The moment of a number.
pub fn point(code: u32) -> Point {
    let place = code >> 2;
    match code & 3 {
        0 => Point::WorkStart(place),
        1 => Point::WorkEnd(place),
        2 => Point::CallStart(place),
        _ => Point::CallEnd(place),
    }
}
