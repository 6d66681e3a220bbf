//! Where a thread was at each moment of an interval: in which call, function and range.

use crate::derive::idling::host_threads::{HostThreads, Thread};
use wavesieve_model::analysis::intervals::Interval;
use wavesieve_model::analysis::intervals::lasting::lasting;

/// Rows of `regions` and of range names in which a thread was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostPiece {
    /// The outermost call, which is the one that the program made: others inside of it are its own work.
    pub call: Option<u32>,
    /// The innermost operator or function.
    pub function: Option<u32>,
    /// The innermost ROCTx range.
    pub range: Option<u32>,
    /// The state of the thread, as a row of `thread_states`.
    pub state: Option<u32>,
}

/// How far the lists of a thread were looked through.
#[derive(Debug, Default)]
pub(crate) struct PiecePlaces {
    call: usize,
    function: usize,
    range: usize,
    state: usize,
}

/// Cuts an interval where the call, function, range or state of a thread changes. Of a thread, intervals come in their order. The
/// pieces tile the interval; neighbors may be equal.
pub(crate) fn each_piece(
    threads: &HostThreads,
    thread: Option<&Thread>,
    time: Interval,
    places: &mut PiecePlaces,
    mut emit: impl FnMut(Interval, HostPiece),
) {
    let Some(thread) = thread else { return emit(time, HostPiece::default()) };
    let call = |place: usize| thread.outermost.get(place).and_then(|place| thread.calls.get(*place as usize)).copied();
    let mut from_ns = time.start_ns;
    while from_ns < time.end_ns {
        let calls = lasting(
            &mut places.call,
            thread.outermost.len(),
            |place| call(place).map(|row| threads.time(row)),
            from_ns,
        );
        let lists = [
            (&mut places.function, &thread.functions),
            (&mut places.range, &thread.ranges),
            (&mut places.state, &thread.states),
        ];
        let [functions, ranges, states] = lists.map(|(reached, list)| {
            let found = lasting(reached, list.len(), |place| list.get(place).map(|one| one.time), from_ns);
            (found.place.and_then(|place| list.get(place)).map(|one| one.row), found.until_ns)
        });
        let until_ns = time.end_ns.min(calls.until_ns).min(functions.1).min(ranges.1).min(states.1);
        let call = calls.place.and_then(call);
        let piece = HostPiece { call, function: functions.0, range: ranges.0, state: states.0 };
        emit(Interval::new(from_ns, until_ns), piece);
        from_ns = until_ns;
    }
}

#[cfg(test)]
mod tests {
    use polars::prelude::{Column, DataFrame, NamedFrom, Series};
    use proptest::prelude::*;

    use super::*;
    use crate::columns::frames::categorical;
    use crate::derive::Frames;

    /// A region: domain, name, start and length. All are of one thread.
    type Region = (&'static str, &'static str, i64, i64);

    fn threads_of(regions: &[Region]) -> HostThreads {
        let texts = |name: &str, values: Vec<&str>| {
            let texts = Series::new(name.into(), values).cast(&categorical()).unwrap();
            Column::from(texts)
        };
        let whole = |name: &str, values: Vec<i64>| Column::new(name.into(), values);
        let rows = regions.len();
        let frame = DataFrame::new_infer_height(vec![
            texts("domain", regions.iter().map(|region| region.0).collect()),
            texts("name", regions.iter().map(|region| region.1).collect()),
            Column::new("message".into(), regions.iter().map(|region| region.1).collect::<Vec<&str>>()),
            whole("tid", vec![7; rows]),
            whole("start_ns", regions.iter().map(|region| region.2).collect()),
            whole("end_ns", regions.iter().map(|region| region.2 + region.3).collect()),
            Column::new("valid".into(), vec![true; rows]),
        ]);
        HostThreads::from_frames(&Frames::from_iter([("regions", frame.unwrap())]), true).unwrap()
    }

    /// Pieces of intervals that follow one another, each with the names of call, function and range; `-` for nothing.
    fn pieces(regions: &[Region], intervals: &[Interval]) -> Vec<(i64, i64, [&'static str; 3])> {
        let threads = threads_of(regions);
        let names = threads.range_names().map(|names| names.as_materialized_series().clone());
        let name = |row: Option<u32>| row.map_or("-", |row| regions[row as usize].1);
        let range = |row: Option<u32>| {
            let text = row.map(|row| names.as_ref().unwrap().str_value(row as usize).unwrap().into_owned());
            regions.iter().map(|region| region.1).find(|name| text.as_deref() == Some(*name)).unwrap_or("-")
        };
        let (mut places, mut all) = (PiecePlaces::default(), Vec::new());
        for interval in intervals {
            each_piece(&threads, threads.get(7), *interval, &mut places, |time, piece| {
                let names = [name(piece.call), name(piece.function), range(piece.range)];
                all.push((time.start_ns, time.end_ns, names));
            });
        }
        all
    }

    #[test]
    fn consecutive_and_nested_calls_share_an_interval_exactly() {
        let regions = [
            ("hip", "hipMalloc", 10, 20),
            ("hsa", "hsa_amd_memory_pool_allocate", 15, 10),
            ("hip", "hipFree", 30, 15),
            ("hip", "hipLaunchKernel", 50, 10),
        ];
        let none = ["-"; 3];
        let call = |name| [name, "-", "-"];
        assert_eq!(
            pieces(&regions, &[Interval::new(0, 40), Interval::new(42, 55)]),
            [
                (0, 10, none),
                (10, 30, call("hipMalloc")),
                (30, 40, call("hipFree")),
                (42, 45, call("hipFree")),
                (45, 50, none),
                (50, 55, call("hipLaunchKernel")),
            ]
        );
        assert_eq!(pieces(&[], &[Interval::new(3, 9)]), [(3, 9, none)]);
    }

    /// A data loader stands for what it calls; other functions do not.
    #[test]
    fn functions_are_the_innermost_and_some_stand_for_all_inside() {
        let loader = "torch/utils/data/dataloader.py(733): __next__";
        let regions = [
            ("python", "train.py(9): step", 0, 100),
            ("python", loader, 10, 30),
            ("python", "torch/utils/data/dataloader.py(790): _next_data", 12, 25),
            ("torch", "aten::stack", 20, 5),
            ("torch", "aten::add", 60, 10),
            ("marker", "epoch", 5, 90),
        ];
        let step = "train.py(9): step";
        assert_eq!(
            pieces(&regions, &[Interval::new(0, 80)]),
            [
                (0, 5, ["-", step, "-"]),
                (5, 10, ["-", step, "epoch"]),
                (10, 40, ["-", loader, "epoch"]),
                (40, 60, ["-", step, "epoch"]),
                (60, 70, ["-", "aten::add", "epoch"]),
                (70, 80, ["-", step, "epoch"]),
            ]
        );
    }

    const KINDS: [(&str, &str); 6] = [
        ("hip", "hipMalloc"),
        ("hip", "hipFree"),
        ("hsa", "hsa_signal_wait_scacquire"),
        ("torch", "aten::add"),
        ("python", "train.py(9): step"),
        ("marker", "epoch"),
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// Any regions, nested or not: pieces tile each interval, and each moment has the call that no other contains.
        #[test]
        fn pieces_tile_their_interval(
            regions in prop::collection::vec((0..KINDS.len(), 0_i64..40, 0_i64..20), 0..14),
            cuts in prop::collection::btree_set(0_i64..60, 2..8),
        ) {
            let regions: Vec<Region> =
                regions.into_iter().map(|(kind, start, length)| (KINDS[kind].0, KINDS[kind].1, start, length)).collect();
            let cuts: Vec<i64> = cuts.into_iter().collect();
            let intervals: Vec<Interval> = cuts.chunks_exact(2).map(|pair| Interval::new(pair[0], pair[1])).collect();
            let pieces = pieces(&regions, &intervals);
            let whole_ns: i64 = intervals.iter().map(|interval| interval.length_ns()).sum();
            prop_assert_eq!(pieces.iter().map(|(start, end, _)| end - start).sum::<i64>(), whole_ns);
            let is_call = |region: &&Region| matches!(region.0, "hip" | "hsa");
            for interval in &intervals {
                for moment in interval.start_ns..interval.end_ns {
                    let found = pieces.iter().find(|(start, end, _)| *start <= moment && moment < *end);
                    let [call, function, range] = found.unwrap().2;
                    let at = |domains: [&str; 2]| regions.iter().any(|(domain, _, start, length)| {
                        domains.contains(domain) && *start <= moment && moment < start + length
                    });
                    prop_assert_eq!(function != "-", at(["torch", "python"]));
                    prop_assert_eq!(range != "-", at(["marker", "marker"]));
                    // The one that started last, of those that no other contains; the first in the table of equals.
                    let calls: Vec<&Region> = regions.iter().filter(is_call).collect();
                    let outermost = calls.iter().enumerate().filter(|(place, one)| {
                        let contains = |(other, outer): (usize, &&Region)| {
                            let wider = outer.2 <= one.2 && outer.2 + outer.3 >= one.2 + one.3;
                            wider && ((outer.2, outer.3) != (one.2, one.3) || other < *place)
                        };
                        !calls.iter().enumerate().any(contains)
                    });
                    let lasts = outermost.filter(|(_, one)| one.2 <= moment && moment < one.2 + one.3);
                    let expected = lasts.max_by_key(|(_, one)| one.2).map_or("-", |(_, one)| one.1);
                    prop_assert_eq!(call, expected);
                }
            }
        }
    }
}
