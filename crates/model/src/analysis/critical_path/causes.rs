//! Finds the work that had to end before other work started, and before waiting calls returned.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::analysis::critical_path::graph::{Call, Graph, NONE, Waits, Work};
use crate::analysis::thresholds::{PathBounds, Thresholds};

fn bounds() -> &'static PathBounds {
    &Thresholds::builtin().critical_path
}

/// Places of work that had to end before; [`NONE`] for work without a cause.
#[derive(Debug, Default)]
pub struct Causes {
    /// By work: the work that ended last in its lane before it started.
    pub stream: Vec<u32>,
    /// By work: the work that ended last anywhere, if that explains the start and nothing recorded does.
    pub inferred: Vec<u32>,
    /// Pairs of work and the work that it is known to have waited for; of several, the one that ended last.
    pub events: Vec<(u32, u32)>,
    /// By call: the work that it waited for, if that ended while the call waited.
    pub waited: Vec<u32>,
}

impl Causes {
    /// The event that work is known to have waited for.
    pub fn event(&self, place: u32) -> Option<u32> {
        let at = self.events.binary_search_by_key(&place, |(work, _)| *work).ok()?;
        self.events.get(at).map(|(_, before)| *before)
    }
}

/// The causes among work and calls in the order of [`crate::analysis::critical_path::Graph::new`].
pub fn causes(work: &[Work], calls: &[Call], recorded: Vec<(u32, u32)>, span_ns: i64) -> Causes {
    let at = |place: u32| work.get(place as usize);
    let end_of = |place: &u32| at(*place).map(|work| (work.end_ns, work.start_ns, *place));
    let mut by_end: Vec<u32> = (0..work.len() as u32).collect();
    by_end.sort_unstable_by_key(end_of);

    let mut found = Causes { events: events(work, recorded), ..Causes::default() };
    let lanes = work.iter().filter(|work| work.lane != NONE).map(|work| work.lane as usize + 1).max().unwrap_or(0);
    let mut last_of_lane = vec![NONE; lanes];
    found.stream.reserve(work.len());
    found.inferred.reserve(work.len());
    let near_ns = bounds().near_ns.max(span_ns / bounds().near_part);
    let mut last = NONE;
    let mut ended = by_end.iter().copied().peekable();
    for (place, one) in (0_u32..).zip(work) {
        // Work without duration that starts together ends in the order in which it is given.
        let over = |other: &u32| {
            at(*other)
                .is_some_and(|work| work.end_ns <= one.start_ns && (work.start_ns < one.start_ns || *other < place))
        };
        while let Some(other) = ended.next_if(over) {
            last = other;
            if let Some(slot) = at(other).and_then(|work| last_of_lane.get_mut(work.lane as usize)) {
                *slot = other;
            }
        }
        let before = last_of_lane.get(one.lane as usize).copied().unwrap_or(NONE);
        let launch = calls.get(one.call as usize).filter(|call| call.start_ns <= one.start_ns);
        let launch_ns = launch.map(|call| if call.end_ns <= one.start_ns { call.end_ns } else { call.start_ns });
        let known_ns = {
            let event = found.event(place).and_then(at);
            at(before).map(|work| work.end_ns).max(event.map(|work| work.end_ns)).max(launch_ns)
        };
        let explains =
            at(last).map(|work| work.end_ns).filter(|end_ns| Some(*end_ns) > known_ns).is_some_and(|end_ns| {
                let gap_ns = one.start_ns.saturating_sub(end_ns);
                match known_ns.filter(|_| launch.is_some()) {
                    Some(known_ns) => {
                        gap_ns <= bounds().close_ns && one.start_ns.saturating_sub(known_ns) > bounds().unexplained_ns
                    }
                    None => gap_ns <= near_ns,
                }
            });
        found.stream.push(before);
        found.inferred.push(if explains { last } else { NONE });
    }
    found.waited = waits(work, calls, &by_end);
    found
}

/// The pairs whose second work had ended when the first started; for each first, the one whose second ended last.
fn events(work: &[Work], mut recorded: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    let at = |place: u32| work.get(place as usize);
    recorded.retain(|(place, before)| {
        at(*place).zip(at(*before)).is_some_and(|(one, other)| {
            other.end_ns <= one.start_ns && (other.start_ns < one.start_ns || before < place)
        })
    });
    recorded.sort_unstable_by_key(|(place, before)| (*place, Reverse(at(*before).map(|work| work.end_ns)), *before));
    recorded.dedup_by_key(|(place, _)| *place);
    recorded
}

/// The work that each call waited for: among the candidates, the one that ended last before its return.
fn waits(work: &[Work], calls: &[Call], by_end: &[u32]) -> Vec<u32> {
    let mut waited = vec![NONE; calls.len()];
    let mut launched = vec![false; calls.len()];
    let at = |place: u32| work.get(place as usize);
    let fits = |call: &Call, work: &Work| {
        let may = call.start_ns < work.end_ns && work.end_ns <= call.end_ns;
        // At the same moment, work without length comes after the returns.
        may && (work.start_ns < work.end_ns || work.end_ns < call.end_ns)
    };
    for place in by_end {
        let Some(one) = at(*place) else { continue };
        let Some(call) = calls.get(one.call as usize).filter(|call| call.waits != Waits::Nothing) else { continue };
        let slots = launched.get_mut(one.call as usize).zip(waited.get_mut(one.call as usize));
        if let Some((launched, waited)) = slots {
            *launched = true;
            if fits(call, one) {
                *waited = *place;
            }
        }
    }

    let issued_ns = |one: &Work| Graph::issued_ns(one, calls);
    let mut waiting: Vec<u32> = (0_u32..)
        .zip(calls.iter().zip(&launched))
        .filter(|(_, (call, launched))| call.waits != Waits::Nothing && !**launched)
        .map(|(place, _)| place)
        .collect();
    if waiting.is_empty() {
        return waited;
    }
    waiting.sort_by_key(|place| calls.get(*place as usize).map(|call| call.start_ns));
    let mut by_issue: Vec<u32> = (0..work.len() as u32).collect();
    by_issue.sort_by_key(|place| at(*place).map(issued_ns));
    let mut tails = Tails::default();
    let mut issued = by_issue.into_iter().peekable();
    for place in waiting {
        let Some(call) = calls.get(place as usize) else { continue };
        while let Some(next) = issued.next_if(|next| at(*next).is_some_and(|one| issued_ns(one) < call.start_ns)) {
            at(next).into_iter().for_each(|one| tails.add(next, one));
        }
        let found = match call.waits {
            Waits::Nothing => None,
            Waits::Stream | Waits::Device => tails.of_call(call, |tail| at(tail).is_some_and(|one| fits(call, one))),
            Waits::Any => {
                let over = by_end.partition_point(|place| at(*place).is_some_and(|one| one.end_ns <= call.end_ns));
                let ended = by_end.get(..over).unwrap_or_default().iter().rev();
                ended
                    .map_while(|place| at(*place).filter(|one| one.end_ns > call.start_ns).map(|one| (*place, one)))
                    .find(|(_, one)| issued_ns(one) < call.start_ns && fits(call, one))
                    .map(|(place, _)| place)
            }
        };
        if let (Some(found), Some(slot)) = (found, waited.get_mut(place as usize)) {
            *slot = found;
        }
    }
    waited
}

/// The work issued so far that ends last in each lane, by end.
#[derive(Default)]
struct Tails {
    by_end: BTreeSet<(i64, u32)>,
    /// By lane: end, whether it takes time, and place.
    by_lane: Vec<Option<(i64, bool, u32)>>,
}

impl Tails {
    fn add(&mut self, place: u32, work: &Work) {
        // Work that takes time fits more calls than work without length that ends with it.
        let new = (work.end_ns, work.start_ns < work.end_ns, place);
        if work.lane != NONE {
            let lane = work.lane as usize;
            if lane >= self.by_lane.len() {
                self.by_lane.resize(lane + 1, None);
            }
            let Some(slot) = self.by_lane.get_mut(lane) else { return };
            if slot.is_some_and(|old| old > new) {
                return;
            }
            if let Some((end_ns, _, place)) = slot.replace(new) {
                self.by_end.remove(&(end_ns, place));
            }
        }
        self.by_end.insert((work.end_ns, place));
    }

    /// The last work that fits a call, among the work that ended in it.
    fn of_call(&self, call: &Call, fits: impl Fn(u32) -> bool) -> Option<u32> {
        let ended = self.by_end.range((call.start_ns, NONE)..=(call.end_ns, NONE)).rev().map(|(_, place)| *place);
        // Only work without length that ends with the call does not fit.
        ended.into_iter().find(|place| fits(*place))
    }
}
