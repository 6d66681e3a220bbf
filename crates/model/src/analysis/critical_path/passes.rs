//! Passes over the whole graph: how much later work could end, and when everything would end without some of it.

use crate::analysis::critical_path::drains::Passed;
use crate::analysis::critical_path::graph::{Before, Cause, Graph, Point};
use crate::analysis::critical_path::order::point;

/// How much later each piece of work could end without moving the last end, with everything after it shifted, in
/// nanoseconds. It is 0 for work on the longest path. Takes linear time.
pub fn slack(graph: &Graph) -> Vec<i64> {
    let (_, last_ns) = graph.span();
    let mut latest = Times::new(graph, last_ns, i64::MAX);
    let mut returns = Passed::new(&graph.drains);
    for code in graph.sequence.iter().rev() {
        match point(*code) {
            Point::WorkEnd(place) => {
                if let Some(return_ns) = returns.earliest_return(place) {
                    lower(latest.work_ends.get_mut(place as usize), return_ns);
                }
            }
            Point::WorkStart(place) => {
                let Some(work) = graph.work_at(place) else { continue };
                let late_ns = at(&latest.work_ends, place).saturating_sub(work.end_ns);
                let causes = graph.causes_of(place);
                let bound = causes[0].map(|(_, time_ns)| work.start_ns.saturating_sub(time_ns));
                let start_ns = work.start_ns.saturating_add(late_ns);
                for (cause, delay_ns) in causes.into_iter().zip([bound.unwrap_or(0), 0, 0, 0]) {
                    let Some((cause, _)) = cause else { continue };
                    lower(latest.of_cause(cause), start_ns.saturating_sub(delay_ns));
                }
            }
            Point::CallEnd(place) => {
                let end_ns = at(&latest.call_ends, place);
                let Some(call) = graph.call_at(place).filter(|_| end_ns < i64::MAX) else { continue };
                returns.return_by(place, end_ns);
                match graph.waited_for(place).and_then(|before| Some((before, graph.work_at(before)?))) {
                    Some((before, work)) => {
                        let delay_ns = call.end_ns.saturating_sub(work.end_ns);
                        lower(latest.work_ends.get_mut(before as usize), end_ns.saturating_sub(delay_ns));
                        lower(latest.call_starts.get_mut(place as usize), end_ns);
                    }
                    None => {
                        let call_ns = call.end_ns.saturating_sub(call.start_ns);
                        lower(latest.call_starts.get_mut(place as usize), end_ns.saturating_sub(call_ns));
                    }
                }
            }
            Point::CallStart(place) => {
                let start_ns = at(&latest.call_starts, place);
                let Some(before) = graph.before(place).filter(|_| start_ns < i64::MAX) else { continue };
                let delay_ns = host_ns(graph, place, before);
                lower(latest.of_before(before), start_ns.saturating_sub(delay_ns));
            }
        }
    }
    graph.work.iter().zip(latest.work_ends).map(|(work, latest_ns)| latest_ns.saturating_sub(work.end_ns)).collect()
}

/// When the last work would end if some of it took no time. The binding cause of each start and return keeps its delay.
/// The host takes as long as it did between calls and in calls that do not wait. Takes linear time.
pub fn end_without(graph: &Graph, free: impl Fn(u32) -> bool) -> i64 {
    let mut times = Times::new(graph, 0, 0);
    let mut last_ns = i64::MIN;
    let mut ends = Passed::new(&graph.drains);
    for code in &graph.sequence {
        match point(*code) {
            Point::WorkStart(place) => {
                let Some(work) = graph.work_at(place) else { continue };
                let causes = graph.causes_of(place);
                let bound = causes[0].map(|(_, time_ns)| work.start_ns.saturating_sub(time_ns));
                let earliest = causes
                    .into_iter()
                    .zip([bound.unwrap_or(0), 0, 0, 0])
                    .filter_map(|(cause, delay_ns)| Some(times.of_cause(cause?.0)?.saturating_add(delay_ns)));
                let start_ns = earliest.max().unwrap_or(work.start_ns);
                set(&mut times.work_ends, place, start_ns);
            }
            Point::WorkEnd(place) => {
                let Some(work) = graph.work_at(place) else { continue };
                let work_ns = if free(place) { 0 } else { work.end_ns.saturating_sub(work.start_ns) };
                let end_ns = at(&times.work_ends, place).saturating_add(work_ns);
                set(&mut times.work_ends, place, end_ns);
                ends.end(place, end_ns);
                last_ns = last_ns.max(end_ns);
            }
            Point::CallStart(place) => {
                let Some(call) = graph.call_at(place) else { continue };
                let start_ns = match graph.before(place) {
                    Some(before) => {
                        let delay_ns = host_ns(graph, place, before);
                        times.of_before(before).map_or(call.start_ns, |time_ns| time_ns.saturating_add(delay_ns))
                    }
                    None => call.start_ns,
                };
                set(&mut times.call_starts, place, start_ns);
            }
            Point::CallEnd(place) => {
                let Some(call) = graph.call_at(place) else { continue };
                let start_ns = at(&times.call_starts, place);
                let end_ns = match graph.waited_for(place).and_then(|before| Some((before, graph.work_at(before)?))) {
                    Some((before, work)) => {
                        let delay_ns = call.end_ns.saturating_sub(work.end_ns);
                        start_ns.max(at(&times.work_ends, before).saturating_add(delay_ns))
                    }
                    None => start_ns.saturating_add(call.end_ns.saturating_sub(call.start_ns)),
                };
                let end_ns = ends.last_end(place).map_or(end_ns, |last_ns| last_ns.max(end_ns));
                set(&mut times.call_ends, place, end_ns);
            }
        }
    }
    last_ns
}

/// A time for each moment that others depend on.
struct Times {
    work_ends: Vec<i64>,
    call_starts: Vec<i64>,
    call_ends: Vec<i64>,
}

impl Times {
    fn new(graph: &Graph, work: i64, calls: i64) -> Self {
        let of_calls = || vec![calls; graph.calls.len()];
        Self { work_ends: vec![work; graph.work.len()], call_starts: of_calls(), call_ends: of_calls() }
    }

    fn of_cause(&mut self, cause: Cause) -> Option<&mut i64> {
        match cause {
            Cause::Stream(work) | Cause::Event(work) | Cause::Inferred(work) => self.work_ends.get_mut(work as usize),
            Cause::Launched(call) => self.call_ends.get_mut(call as usize),
            Cause::Launching(call) => self.call_starts.get_mut(call as usize),
        }
    }

    fn of_before(&mut self, before: Before) -> Option<&mut i64> {
        match before {
            Before::Returned(call) => self.call_ends.get_mut(call as usize),
            Before::Begun(call) => self.call_starts.get_mut(call as usize),
        }
    }
}

/// The recorded time from the moment that a call starts after to its start.
fn host_ns(graph: &Graph, place: u32, before: Before) -> i64 {
    let since_ns = match before {
        Before::Returned(before) => graph.call_at(before).map(|call| call.end_ns),
        Before::Begun(before) => graph.call_at(before).map(|call| call.start_ns),
    };
    let start_ns = graph.call_at(place).map(|call| call.start_ns);
    start_ns.zip(since_ns).map_or(0, |(start_ns, since_ns)| start_ns.saturating_sub(since_ns))
}

fn at(times: &[i64], place: u32) -> i64 {
    times.get(place as usize).copied().unwrap_or_default()
}

fn set(times: &mut [i64], place: u32, time_ns: i64) {
    if let Some(slot) = times.get_mut(place as usize) {
        *slot = time_ns;
    }
}

fn lower(slot: Option<&mut i64>, time_ns: i64) {
    if let Some(slot) = slot {
        *slot = (*slot).min(time_ns);
    }
}
