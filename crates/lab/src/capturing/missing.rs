//! Requested dispatches that did not occur, or occurred after the last allowed capture.

use serde::Serialize;

use wavesieve_captures::recording::Indices;

const UNREPORTED: &str = "it did not occur, or was not reported";

/// Consecutive dispatches of a kernel in a process that were requested but not captured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    pub kernel: String,
    pub pid: u32,
    pub first: u64,
    pub last: u64,
    pub reason: String,
}

/// The known dispatches of a wanted kernel in a process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reached {
    /// Dispatches that were captured, or have a known reason why not.
    pub known: Vec<u64>,
    /// All dispatches, if the runtime was shut down.
    pub dispatches: Option<u64>,
    /// The first dispatch after the last allowed capture, and how many came from there on.
    pub limit: Option<(u64, u64)>,
}

impl Reached {
    /// Returns the gaps in the requested dispatches. A range without an end has a gap only if some dispatches were not
    /// captured, or if none of the range occurred.
    pub(super) fn missing(mut self, kernel: &str, pid: u32, wanted: &Indices) -> Vec<Missing> {
        self.known.sort_unstable();
        self.known.dedup();
        let mut missing = Vec::new();
        for range in wanted.ranges() {
            let mut next = *range.start();
            let mut gaps = Vec::new();
            for known in self.known.iter().copied().filter(|known| range.contains(known)) {
                if known > next {
                    gaps.push((next, known - 1));
                }
                next = known.saturating_add(1);
            }
            if next <= *range.end() {
                let last =
                    if *range.end() == u64::MAX { self.end_of_open(next, *range.start()) } else { Some(*range.end()) };
                gaps.extend(last.map(|last| (next, last)));
            }
            for (first, last) in gaps {
                self.explain(first, last, &mut |first, last, reason| {
                    missing.push(Missing { kernel: kernel.to_owned(), pid, first, last, reason });
                });
            }
        }
        missing
    }

    /// The last missing dispatch in a range without an end, whose dispatches before `next` occurred.
    fn end_of_open(&self, next: u64, start: u64) -> Option<u64> {
        if next == start && self.limit.is_none() {
            return Some(start);
        }
        match (self.dispatches, self.limit) {
            (Some(count), _) => count.checked_sub(1).filter(|last| *last >= next),
            (None, Some((first, _))) => Some(first.max(next)),
            (None, None) => None,
        }
    }

    /// Splits a gap by its reasons: dispatches beyond the limit occurred, the others did not.
    fn explain(&self, first: u64, last: u64, add: &mut dyn FnMut(u64, u64, String)) {
        let count = self.dispatches.unwrap_or(u64::MAX);
        let cut_off = self.limit.filter(|(from, _)| first >= *from && first < count);
        let mut first = first;
        if let Some((_, limit)) = cut_off {
            let end = last.min(count.saturating_sub(1));
            add(first, end, format!("--limit ended the captures of the process after {limit}"));
            if end >= last {
                return;
            }
            first = end.saturating_add(1);
        }
        let reason = match self.dispatches {
            Some(count) if count > first => UNREPORTED.to_owned(),
            Some(1) => "the kernel was dispatched once".to_owned(),
            Some(count) => format!("the kernel was dispatched {count} times"),
            None => UNREPORTED.to_owned(),
        };
        add(first, last, reason);
    }
}

impl Missing {
    pub(super) fn line(&self) -> String {
        let Self { kernel, first, last, reason, .. } = self;
        let which = if first == last { format!("dispatch {first}") } else { format!("dispatches {first}-{last}") };
        format!("not captured: {which} of {kernel}: {reason}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(
        wanted: &str,
        known: &[u64],
        dispatches: Option<u64>,
        limit: Option<(u64, u64)>,
    ) -> Vec<(u64, u64, bool)> {
        let reached = Reached { known: known.to_vec(), dispatches, limit };
        let missing = reached.missing("add", 7, &wanted.parse().unwrap());
        missing.into_iter().map(|gap| (gap.first, gap.last, gap.reason.contains("--limit"))).collect()
    }

    #[test]
    fn gaps_are_found_and_explained() {
        assert_eq!(missing("0", &[0], None, None), []);
        assert_eq!(missing("1,99", &[1], Some(3), None), [(99, 99, false)]);
        assert_eq!(missing("0,1", &[0], Some(3), Some((1, 1))), [(1, 1, true)]);
        let known: Vec<u64> = (0..16).collect();
        assert_eq!(missing("0-29", &known, Some(30), Some((16, 16))), [(16, 29, true)]);
        assert_eq!(missing("0-29", &known, Some(20), Some((16, 16))), [(16, 19, true), (20, 29, false)]);
        assert_eq!(missing("0-29", &known, None, None), [(16, 29, false)]);
        assert_eq!(missing("0-4", &[0, 2, 4], Some(9), None), [(1, 1, false), (3, 3, false)]);
        // A range without an end: all dispatches that occurred were captured, and no more were requested.
        assert_eq!(missing("3-", &[3, 4], Some(5), None), []);
        assert_eq!(missing("3-", &[3, 4], None, None), []);
        assert_eq!(missing("3-", &[3], Some(9), Some((4, 1))), [(4, 8, true)]);
        assert_eq!(missing("3-", &[3], None, Some((4, 1))), [(4, 4, true)]);
        assert_eq!(missing("3-", &[], Some(2), None), [(3, 3, false)]);
        for (wanted, reason) in [("0", UNREPORTED), ("1", "the kernel was dispatched once")] {
            let reached = Reached { dispatches: Some(1), ..Reached::default() };
            assert_eq!(reached.missing("add", 7, &wanted.parse().unwrap())[0].reason, reason);
        }
        assert_eq!(missing("0-18446744073709551614", &[], Some(0), None), [(0, u64::MAX - 1, false)]);
    }
}
