use proptest::prelude::*;

use crate::analysis::critical_path::graph::{Before, Cause};
use crate::analysis::critical_path::*;

fn work(start_ns: i64, end_ns: i64, lane: u32, call: u32) -> Work {
    Work { start_ns, end_ns, lane, call }
}

fn call(start_ns: i64, end_ns: i64, thread: u32, waits: Waits) -> Call {
    Call { start_ns, end_ns, thread, waits }
}

/// The work on the path, and how long that took.
fn kernels(graph: &Graph) -> (Vec<u32>, i64) {
    let on_path = longest_path(graph).into_iter().filter_map(|segment| match segment.part {
        PathPart::Work(place) => Some((place, segment.end_ns - segment.start_ns)),
        _ => None,
    });
    let (places, times): (Vec<u32>, Vec<i64>) = on_path.unzip();
    (places, times.iter().sum())
}

fn without_launches(rows: &[(i64, i64, u32)]) -> Graph {
    Graph::new(
        rows.iter().map(|(start, end, lane)| work(*start, *end, *lane, NONE)).collect(),
        Vec::new(),
        &[0, 0],
        Vec::new(),
    )
}

#[test]
fn work_without_launches() {
    let found = |rows: &[(i64, i64, u32)]| kernels(&without_launches(rows));
    assert_eq!(found(&[(0, 10, 0), (10, 30, 0), (30, 35, 0)]), (vec![0, 1, 2], 35));
    assert_eq!(found(&[(0, 10, 0), (0, 30, 1)]), (vec![1], 30));
    assert_eq!(found(&[(0, 10, 0), (10, 30, 0), (31, 60, 1)]), (vec![0, 1, 2], 59));
    assert_eq!(found(&[]), (vec![], 0));
    // Work elsewhere that ended 50 µs before may have been waited for, but not work that ended longer before.
    assert_eq!(found(&[(0, 10, 0), (50_010, 50_040, 1)]), (vec![0, 1], 40));
    assert_eq!(found(&[(0, 10, 0), (200_000, 200_030, 1)]), (vec![1], 30));
    // Work that overlaps in a queue did not wait for each other, and the path is no longer than the time.
    assert_eq!(found(&[(0, 100, 0), (10, 60, 0)]), (vec![0], 100));
    assert_eq!(found(&[(0, 40, 1), (0, 100, 0), (101, 131, 1)]), (vec![1, 2], 130));
}

/// A thread launches work 0 (call 0), waits for it (call 1), and launches work 1 (call 2) that runs while call 2 returns.
/// Work 2 of another stream, launched by call 3, starts late, 5 after work 1 ended: the launch leaves 45 open, so that it is
/// bound by call 3 with a latency.
#[test]
fn every_part_of_a_path() {
    let calls = vec![
        call(0, 10, 0, Waits::Nothing),
        call(20, 130, 0, Waits::Stream),
        call(140, 160, 0, Waits::Nothing),
        call(165, 170, 0, Waits::Nothing),
    ];
    let graph =
        Graph::new(vec![work(15, 120, 0, 0), work(150, 210, 0, 2), work(215, 300, 1, 3)], calls, &[0, 0], vec![]);
    let told: Vec<(i64, PathPart, Edge)> =
        longest_path(&graph).iter().map(|segment| (segment.start_ns, segment.part, segment.edge)).collect();
    let expected = [
        (15, PathPart::Work(0), Edge::Launch),
        (120, PathPart::SyncWakeup(1), Edge::Wait),
        (130, PathPart::Host(0), Edge::Thread),
        (140, PathPart::Call(2), Edge::Thread),
        (160, PathPart::Host(0), Edge::Thread),
        (165, PathPart::Call(3), Edge::Thread),
        (170, PathPart::LaunchLatency(2), Edge::Launch),
        (215, PathPart::Work(2), Edge::Launch),
    ];
    assert_eq!(told, expected);
    // Work 1 could end 90 later.
    assert_eq!(slack(&graph), [0, 90, 0]);
    // Without work 0 the wait ends 105 earlier, at 10 after the start of call 1 or the end of work 0, whichever is later:
    // work 0 would end at 15, its wait return at 25.
    assert_eq!(end_without(&graph, |place| place == 0), 300 - 105);
    assert_eq!(end_without(&graph, |place| place == 1), 300);
    assert_eq!(end_without(&graph, |place| place == 2), 215);
}

/// Work 0 ends at 50 and work 1 of another stream at 90, both before a call that waits until 100. Work 2 follows 20 later.
#[test]
fn the_whole_device_is_waited_for() {
    let calls = |waits| {
        let launches = [(0, 5), (6, 9)].map(|(start, end)| call(start, end, 0, Waits::Nothing));
        [&launches[..], &[call(20, 100, 0, waits), call(105, 110, 0, Waits::Nothing)]].concat()
    };
    let works = || vec![work(10, 50, 0, 0), work(10, 90, 1, 1), work(120, 200, 0, 3)];
    let graph = |waits| Graph::new(works(), calls(waits), &[0, 0], vec![]);
    // If work 1 took no time, a wait for the device would last until work 0 ends at 50, and save 50.
    assert_eq!(end_without(&graph(Waits::Device), |place| place == 1), 200 - 50);
    // A wait for its stream would last from 20 to 20; work 0 still ends at 50 before work 2 in its stream, which its
    // launch, from 25 to 30, would start at 40.
    assert_eq!(end_without(&graph(Waits::Stream), |place| place == 1), 50 + 80);
    // Work 0 could end 50 later, when the wait returns; otherwise 70 later, when work 2 of its stream starts.
    assert_eq!(slack(&graph(Waits::Device)), [50, 0, 0]);
    assert_eq!(slack(&graph(Waits::Stream)), [70, 0, 0]);
}

#[test]
fn work_of_other_streams_explains_late_starts() {
    let calls = || vec![call(0, 10, 0, Waits::Nothing), call(20, 30, 0, Waits::Nothing)];
    let late = |start_ns| {
        Graph::new(vec![work(15, 90_000, 0, 0), work(start_ns, start_ns + 100, 1, 1)], calls(), &[0, 0], vec![])
    };
    let edges = |graph: &Graph| longest_path(graph).last().map(|segment| segment.edge);
    assert_eq!(edges(&late(90_000 + 10_000)), Some(Edge::Inferred));
    assert_eq!(edges(&late(90_000 + 10_001)), Some(Edge::Launch));
}

#[test]
fn long_waits_without_launch_are_unknown() {
    let waits =
        |gap_ns: i64| longest_path(&without_launches(&[(0, 10, 0), (10 + gap_ns, 20 + gap_ns, 0)])).into_iter().nth(1);
    assert_eq!(waits(50_000).map(|segment| (segment.part, segment.edge)), Some((PathPart::QueueWait(1), Edge::Stream)));
    assert_eq!(waits(50_001).map(|segment| (segment.part, segment.edge)), Some((PathPart::Unknown(1), Edge::Stream)));
}

#[test]
fn recorded_events_are_causes() {
    // Work 2 waited for work 0 of another stream, which ended long before. Overlapping work cannot have been waited
    // for.
    let works = vec![work(0, 100, 0, NONE), work(10, 90, 1, NONE), work(90_000, 90_100, 1, NONE)];
    let edge = |recorded| {
        longest_path(&Graph::new(works.clone(), vec![], &[0, 0], recorded)).last().map(|segment| segment.edge)
    };
    assert_eq!(edge(vec![(2, 0)]), Some(Edge::Event));
    assert_eq!(edge(vec![(1, 0), (0, 2)]), Some(Edge::Stream));
}

#[test]
fn work_that_takes_no_time_does_not_hide_what_ends_with_it() {
    let calls = vec![call(1, 2, 0, Waits::Nothing), call(3, 4, 0, Waits::Nothing), call(10, 50, 0, Waits::Stream)];
    for works in [[work(5, 50, 0, 0), work(50, 50, 0, 1)], [work(50, 50, 0, 0), work(5, 50, 0, 1)]] {
        let graph = Graph::new(works.to_vec(), calls.clone(), &[0], vec![]);
        let waited = graph.waited_for(2).and_then(|place| graph.work().get(place as usize).copied());
        assert_eq!(waited.map(|work| work.start_ns), Some(5));
    }
}

#[test]
fn waits_for_one_of_several() {
    let launch = |at| call(at, at + 1, 0, Waits::Nothing);
    // Work 1 of the second stream still runs when the call returns, work 2 is issued after the call started.
    let works = || vec![work(2, 50, 0, 0), work(4, 20, 1, 1), work(22, 90, 1, 2), work(31, 60, 2, 4)];
    let calls = |waits| vec![launch(1), launch(3), launch(5), call(10, 70, 0, waits), call(30, 31, 1, Waits::Nothing)];
    for waits in [Waits::Stream, Waits::Device, Waits::Any] {
        let graph = Graph::new(works(), calls(waits), &[0; 3], vec![]);
        assert_eq!(graph.waited_for(3), Some(0));
    }
    // Without the first stream only an event between the two of the second may have been waited for.
    let second = || vec![work(4, 20, 0, 1), work(22, 90, 0, 2)];
    assert_eq!(Graph::new(second(), calls(Waits::Stream), &[0], vec![]).waited_for(3), None);
    assert_eq!(Graph::new(second(), calls(Waits::Any), &[0], vec![]).waited_for(3), Some(0));
}

/// Moments by number: starts and ends of work, then of calls.
#[derive(Clone, Copy)]
struct Arrow {
    from: usize,
    to: usize,
    delay_ns: i64,
    of: Option<usize>,
}

/// All dependencies of a graph, each with its least delay.
fn arrows(graph: &Graph, devices: &[u32]) -> Vec<Arrow> {
    let works = graph.work().len();
    let start = |place: u32| 2 * place as usize;
    let end = |place: u32| start(place) + 1;
    let begin = |place: u32| 2 * (works + place as usize);
    let back = |place: u32| begin(place) + 1;
    let arrow = |from, to, delay_ns| Arrow { from, to, delay_ns, of: None };
    let mut arrows = Vec::new();
    for (place, work) in (0_u32..).zip(graph.work()) {
        let length = arrow(start(place), end(place), work.end_ns - work.start_ns);
        arrows.push(Arrow { of: Some(place as usize), ..length });
        let causes: Vec<(Cause, i64)> = graph.causes_of(place).into_iter().flatten().collect();
        for (rank, (cause, time_ns)) in causes.iter().enumerate() {
            assert!(*time_ns <= causes[0].1 && *time_ns <= work.start_ns);
            let from = match cause {
                Cause::Stream(work) | Cause::Event(work) | Cause::Inferred(work) => end(*work),
                Cause::Launched(call) => back(*call),
                Cause::Launching(call) => begin(*call),
            };
            arrows.push(arrow(from, start(place), if rank == 0 { work.start_ns - time_ns } else { 0 }));
        }
    }
    for (place, call) in (0_u32..).zip(graph.calls()) {
        match graph.waited_for(place) {
            Some(work) => {
                let end_ns = graph.work()[work as usize].end_ns;
                arrows.push(arrow(end(work), back(place), call.end_ns - end_ns));
                arrows.push(arrow(begin(place), back(place), 0));
            }
            None => arrows.push(arrow(begin(place), back(place), call.end_ns - call.start_ns)),
        }
        if call.waits == Waits::Device {
            let device = |work: &Work| devices.get(work.lane as usize).copied();
            let waited = graph.waited_for(place).map(|work| device(&graph.work()[work as usize]));
            let meant = waited.unwrap_or((!devices.contains(&1)).then_some(0));
            for (number, work) in (0_u32..).zip(graph.work()) {
                let issued = Graph::issued_ns(work, graph.calls()) < call.start_ns;
                let over = work.end_ns < call.end_ns || work.end_ns == call.end_ns && work.start_ns < work.end_ns;
                if issued && over && meant.is_some() && device(work) == meant {
                    arrows.push(arrow(end(number), back(place), 0));
                }
            }
        }
        let before = place.checked_sub(1).and_then(|before| Some((before, graph.before(place)?)));
        if let Some((before, kind)) = before {
            let other = graph.calls()[before as usize];
            arrows.push(match kind {
                Before::Returned(_) => arrow(back(before), begin(place), call.start_ns - other.end_ns),
                Before::Begun(_) => arrow(begin(before), begin(place), call.start_ns - other.start_ns),
            });
        }
    }
    arrows
}

/// When the last work ends, with other lengths of it: the smallest times that satisfy all dependencies.
fn end_with(graph: &Graph, devices: &[u32], length: impl Fn(usize, i64) -> i64) -> i64 {
    let arrows = arrows(graph, devices);
    let recorded: Vec<i64> = graph
        .work()
        .iter()
        .flat_map(|work| [work.start_ns, work.end_ns])
        .chain(graph.calls().iter().flat_map(|call| [call.start_ns, call.end_ns]))
        .collect();
    let has_cause: Vec<bool> = (0..recorded.len()).map(|to| arrows.iter().any(|arrow| arrow.to == to)).collect();
    let fixed = |moment: usize| if has_cause[moment] { i64::MIN / 2 } else { recorded[moment] };
    let mut times: Vec<i64> = (0..recorded.len()).map(fixed).collect();
    for _ in 0..=times.len() {
        for arrow in &arrows {
            let delay_ns = arrow.of.map_or(arrow.delay_ns, |work| length(work, arrow.delay_ns));
            times[arrow.to] = times[arrow.to].max(times[arrow.from] + delay_ns);
        }
    }
    for arrow in &arrows {
        let delay_ns = arrow.of.map_or(arrow.delay_ns, |work| length(work, arrow.delay_ns));
        assert!(times[arrow.to] >= times[arrow.from] + delay_ns, "no order of the moments");
    }
    (0..graph.work().len()).map(|place| times[2 * place + 1]).max().unwrap_or(i64::MIN)
}

/// Devices of the two lanes.
const DEVICES: [[u32; 2]; 2] = [[0, 1], [0, 0]];

prop_compose! {
    fn graphs()(
        calls in prop::collection::vec((0_i64..40, 0_i64..8, 0_u32..2, 0_u8..4), 0..8),
        works in prop::collection::vec((0_i64..40, 0_i64..10, 0_u32..3, 0_u32..10), 0..9),
        one_device in any::<bool>(),
        recorded in prop::collection::vec((0_u32..9, 0_u32..9), 0..4),
        scale in prop_oneof![Just(1_i64), Just(7_000)],
    ) -> (Graph, [u32; 2]) {
        let devices = DEVICES[usize::from(one_device)];
        let mut by_thread: Vec<Call> = calls
            .into_iter()
            .map(|(start, length, thread, waits)| {
                let waits = [Waits::Nothing, Waits::Stream, Waits::Device, Waits::Any][usize::from(waits)];
                call(start * scale, (start + length) * scale, thread, waits)
            })
            .collect();
        by_thread.sort_by_key(|call| (call.thread, call.start_ns, std::cmp::Reverse(call.end_ns)));
        let mut kept: Vec<Call> = Vec::new();
        for call in by_thread {
            if kept.last().is_none_or(|last| last.thread != call.thread || last.end_ns < call.end_ns) {
                kept.push(call);
            }
        }
        let mut works: Vec<Work> = works
            .into_iter()
            .map(|(start, length, lane, call)| {
                let call = if (call as usize) < kept.len() { call } else { NONE };
                let lane = if lane == 2 { NONE } else { lane };
                work(start * scale, (start + length) * scale, lane, call)
            })
            .collect();
        works.sort_by_key(|work| (work.start_ns, work.end_ns));
        (Graph::new(works, kept, &devices, recorded), devices)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_path_is_as_long_as_the_time((graph, _) in graphs()) {
        let path = longest_path(&graph);
        let (first_ns, last_ns) = graph.span();
        prop_assert_eq!(path.iter().map(|segment| segment.end_ns - segment.start_ns).sum::<i64>(), last_ns - first_ns);
        prop_assert!(path.iter().all(|segment| segment.start_ns < segment.end_ns));
        prop_assert!(path.windows(2).all(|pair| pair[0].end_ns == pair[1].start_ns));
        let slack = slack(&graph);
        for segment in path {
            if let PathPart::Work(place) = segment.part {
                prop_assert_eq!(slack[place as usize], 0);
            }
        }
    }

    #[test]
    fn slack_is_what_does_not_move_the_end((graph, devices) in graphs()) {
        let (_, last_ns) = graph.span();
        if !graph.work().is_empty() {
            prop_assert_eq!(end_with(&graph, &devices, |_, length_ns| length_ns), last_ns);
        }
        for (place, slack_ns) in slack(&graph).into_iter().enumerate() {
            prop_assert!(slack_ns >= 0);
            let longer = |by_ns: i64| end_with(&graph, &devices, |work, length| if work == place { length + by_ns } else { length });
            prop_assert_eq!(longer(slack_ns), last_ns);
            prop_assert!(longer(slack_ns + 1) > last_ns);
        }
    }

    #[test]
    fn what_is_free_saves_at_most_its_time_on_the_path((graph, devices) in graphs(), free in any::<u16>()) {
        let is_free = |place: u32| free >> (place % 16) & 1 == 1;
        let (_, last_ns) = graph.span();
        if !graph.work().is_empty() {
            let end_ns = end_without(&graph, is_free);
            prop_assert_eq!(end_ns, end_with(&graph, &devices, |work, length| if is_free(work as u32) { 0 } else { length }));
            let on_path = longest_path(&graph).into_iter().filter(|segment| match segment.part {
                PathPart::Work(place) => is_free(place),
                _ => false,
            });
            let on_path_ns: i64 = on_path.map(|segment| segment.end_ns - segment.start_ns).sum();
            prop_assert!(end_ns <= last_ns && last_ns - end_ns <= on_path_ns);
        }
    }

    #[test]
    fn causes_match_their_definition((graph, _) in graphs()) {
        let works = graph.work();
        for (place, one) in works.iter().enumerate() {
            let ended = |other: usize| {
                let before = works[other];
                let over = before.end_ns <= one.start_ns && (before.start_ns < one.start_ns || other < place);
                (over && before.lane == one.lane && one.lane != NONE).then_some(before.end_ns)
            };
            let last = (0..works.len()).filter(|other| *other != place).filter_map(ended).max();
            let found = graph.causes_of(place as u32).into_iter().flatten().find_map(|(cause, time_ns)| {
                matches!(cause, Cause::Stream(_)).then_some(time_ns)
            });
            prop_assert_eq!(found, last);
        }
        let calls = graph.calls();
        let issued = |work: &Work| calls.get(work.call as usize).map_or(work.start_ns, |call| call.start_ns.min(work.start_ns));
        for (place, call) in calls.iter().enumerate() {
            let own: Vec<&Work> = works.iter().filter(|work| work.call == place as u32).collect();
            let may: Vec<&Work> = match call.waits {
                Waits::Nothing => Vec::new(),
                _ if !own.is_empty() => own,
                Waits::Any => works.iter().filter(|work| issued(work) < call.start_ns).collect(),
                Waits::Stream | Waits::Device => {
                    let given = || works.iter().filter(|work| issued(work) < call.start_ns);
                    let is_last = |work: &&Work| {
                        work.lane == NONE || given().all(|other| other.lane != work.lane || other.end_ns <= work.end_ns)
                    };
                    given().filter(is_last).collect()
                }
            };
            let ended = may.into_iter().filter(|work| {
                let within = call.start_ns < work.end_ns && work.end_ns <= call.end_ns;
                within && (work.start_ns < work.end_ns || work.end_ns < call.end_ns)
            });
            let found = graph.waited_for(place as u32).map(|work| works[work as usize].end_ns);
            prop_assert_eq!(found, ended.map(|work| work.end_ns).max());
        }
    }
}
