//! The longest path, walked from its end.

use crate::analysis::critical_path::graph::{Before, Cause, Graph, NONE, Point};
use crate::analysis::thresholds::Thresholds;

/// Kind of a part of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathPart {
    /// This work ran.
    Work(u32),
    /// The host was inside this call.
    Call(u32),
    /// This thread was between calls that launch or wait.
    Host(u32),
    /// This work was launched and had not started.
    LaunchLatency(u32),
    /// This work was in its queue after the work that it waited for had ended.
    QueueWait(u32),
    /// The work that this call waited for was over, and the call had not returned.
    SyncWakeup(u32),
    /// Nothing recorded explains what this work waited for, or why it waited so long.
    Unknown(u32),
}

/// How the path got to a part from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The order of a stream or queue.
    Stream,
    /// A recorded event represented work elsewhere.
    Event,
    /// Work elsewhere ended shortly before; no dependency was recorded.
    Inferred,
    /// A call launched work.
    Launch,
    /// A call waited for work.
    Wait,
    /// The order of a thread.
    Thread,
    /// Nothing came before.
    Start,
}

/// A part of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Start in raw nanoseconds.
    pub start_ns: i64,
    /// End, after its start.
    pub end_ns: i64,
    pub part: PathPart,
    /// How it was reached.
    pub edge: Edge,
}

/// The path to the end of the work that ends last, in the order of time. Its parts follow each other without gap from the
/// first start of any work to that end.
pub fn longest_path(graph: &Graph) -> Vec<Segment> {
    let (first_ns, last_ns) = graph.span();
    let last = graph.work().iter().rposition(|work| work.end_ns == last_ns);
    let mut segments = Vec::new();
    let mut next = last.map(|place| Point::WorkEnd(place as u32));
    while let Some(point) = next {
        let (segment, before) = step(graph, point, first_ns);
        let segment = segment.map(|segment| Segment { start_ns: segment.start_ns.max(first_ns), ..segment });
        let reached = segment.is_some_and(|segment| segment.start_ns <= first_ns);
        segments.extend(segment.filter(|segment| segment.start_ns < segment.end_ns));
        next = before.filter(|_| !reached);
    }
    segments.reverse();
    segments
}

/// The step that leads to a moment: the part of the path before it, and the moment before that part.
fn step(graph: &Graph, point: Point, first_ns: i64) -> (Option<Segment>, Option<Point>) {
    let part = |start_ns, end_ns, part, edge| Some(Segment { start_ns, end_ns, part, edge });
    let found = match point {
        Point::WorkEnd(place) => graph.work_at(place).map(|work| {
            let edge = match graph.causes_of(place)[0] {
                Some((Cause::Stream(_), _)) => Edge::Stream,
                Some((Cause::Event(_), _)) => Edge::Event,
                Some((Cause::Inferred(_), _)) => Edge::Inferred,
                Some((Cause::Launched(_) | Cause::Launching(_), _)) => Edge::Launch,
                None => Edge::Start,
            };
            (part(work.start_ns, work.end_ns, PathPart::Work(place), edge), Some(Point::WorkStart(place)))
        }),
        Point::WorkStart(place) => graph.work_at(place).map(|work| {
            // Work whose launch is not recorded may have been launched late.
            let waits = |since_ns: i64| {
                let long = work.call == NONE
                    && work.start_ns.saturating_sub(since_ns) > Thresholds::builtin().critical_path.near_ns;
                if long { PathPart::Unknown(place) } else { PathPart::QueueWait(place) }
            };
            match graph.causes_of(place)[0] {
                Some((Cause::Stream(before), time_ns)) => {
                    (part(time_ns, work.start_ns, waits(time_ns), Edge::Stream), Some(Point::WorkEnd(before)))
                }
                Some((Cause::Event(before), time_ns)) => (
                    part(time_ns, work.start_ns, PathPart::QueueWait(place), Edge::Event),
                    Some(Point::WorkEnd(before)),
                ),
                Some((Cause::Inferred(before), time_ns)) => {
                    (part(time_ns, work.start_ns, waits(time_ns), Edge::Inferred), Some(Point::WorkEnd(before)))
                }
                Some((Cause::Launched(call), time_ns)) => (
                    part(time_ns, work.start_ns, PathPart::LaunchLatency(place), Edge::Launch),
                    Some(Point::CallEnd(call)),
                ),
                Some((Cause::Launching(call), time_ns)) => {
                    (part(time_ns, work.start_ns, PathPart::Call(call), Edge::Thread), Some(Point::CallStart(call)))
                }
                None => (part(first_ns, work.start_ns, PathPart::Unknown(place), Edge::Start), None),
            }
        }),
        Point::CallEnd(place) => graph.call_at(place).map(|call| {
            let waited = graph.waited_for(place).and_then(|before| Some((before, graph.work_at(before)?.end_ns)));
            match waited {
                Some((before, time_ns)) => {
                    (part(time_ns, call.end_ns, PathPart::SyncWakeup(place), Edge::Wait), Some(Point::WorkEnd(before)))
                }
                None => (
                    part(call.start_ns, call.end_ns, PathPart::Call(place), Edge::Thread),
                    Some(Point::CallStart(place)),
                ),
            }
        }),
        Point::CallStart(place) => graph.call_at(place).map(|call| {
            let host = |from_ns, edge| part(from_ns, call.start_ns, PathPart::Host(call.thread), edge);
            match graph.before(place) {
                Some(Before::Returned(before)) => {
                    let time_ns = graph.call_at(before).map_or(first_ns, |before| before.end_ns);
                    (host(time_ns, Edge::Thread), Some(Point::CallEnd(before)))
                }
                Some(Before::Begun(before)) => {
                    let time_ns = graph.call_at(before).map_or(first_ns, |before| before.start_ns);
                    let inside = part(time_ns, call.start_ns, PathPart::Call(before), Edge::Thread);
                    (inside, Some(Point::CallStart(before)))
                }
                None => (host(first_ns, Edge::Start), None),
            }
        }),
    };
    found.unwrap_or_default()
}
