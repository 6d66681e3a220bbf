//! Paths by kernel, and the order of bottlenecks.

use super::bottlenecks::{Ranked, order, reached, verdict};
use super::documents::headroom_of;
use super::paths::{Summed, longest};

fn part(process: i64, kind: &str, name: &str, path_ns: i64) -> Summed {
    Summed { process, rank: process, kind: kind.to_owned(), name: name.to_owned(), path_ns }
}

/// The kernels of known programs: the total time of a kernel counts, not its longest dispatch.
#[test]
fn the_dominant_symbol_has_most_time_on_the_path() {
    let found = |parts: &[(&str, i64)]| {
        let parts: Vec<Summed> = parts.iter().map(|(name, ns)| part(0, "kernel", name, *ns)).collect();
        let path = longest(&parts).unwrap();
        (path.critical_path_ns, path.dominant_symbol.unwrap(), path.fraction.unwrap())
    };
    assert_eq!(found(&[("A", 10), ("B", 20), ("C", 5)]), (35, "B".to_owned(), 20.0 / 35.0));
    assert_eq!(found(&[("B", 30)]), (30, "B".to_owned(), 1.0));
    assert_eq!(found(&[("A", 10), ("B", 20), ("C", 29)]), (59, "C".to_owned(), 29.0 / 59.0));
    assert_eq!(found(&[("A", 10), ("B", 20), ("A", 15)]), (45, "A".to_owned(), 25.0 / 45.0));
    assert!(longest(&[]).is_none());
}

#[test]
fn the_longest_process_counts_and_gaps_are_no_work() {
    let parts = [
        part(0, "kernel", "A", 100),
        part(1, "kernel", "B", 60),
        part(1, "copy", "H2D", 20),
        part(1, "queue_wait", "B", 15),
        part(1, "api", "hipMalloc", 25),
    ];
    let path = longest(&parts).unwrap();
    assert_eq!((path.rank, path.critical_path_ns, path.work_ns, path.gaps_ns), (1, 120, 80, 40));
    assert_eq!((path.launching_ns, path.processes), (25, 2));
    // Only waits: no kernel is dominant.
    let path = longest(&[part(0, "api", "hipMalloc", 25)]).unwrap();
    assert_eq!((path.dominant_symbol, path.fraction, path.work_ns), (None, None, 0));
}

#[test]
fn scores_are_how_far_a_bound_is_reached() {
    assert_eq!(reached(30.0, Some(60.0), None), 0.5);
    assert_eq!(reached(90.0, Some(60.0), None), 1.0);
    assert_eq!(reached(80.0, None, Some(60.0)), 0.75);
    assert_eq!(reached(0.0, None, Some(60.0)), 1.0);
    assert_eq!(reached(0.0, Some(60.0), None), 0.0);
}

#[test]
fn what_is_there_comes_before_what_may_be() {
    let of = |name: &str, state: &str, score| Ranked {
        bottleneck: name.to_owned(),
        verdict: name.to_owned(),
        state: state.to_owned(),
        score,
        evidence: Vec::new(),
        missing: (state == "unknown").then(|| "SQ_WAVES".to_owned()),
    };
    let mut all = vec![
        of("a", "no", Some(0.2)),
        of("b", "unknown", None),
        of("c", "yes", Some(1.0)),
        of("d", "no", Some(0.9)),
        of("e", "unknown", Some(0.5)),
        of("f", "yes", Some(1.0)),
    ];
    order(&mut all);
    let names: String = all.iter().map(|one| one.bottleneck.as_str()).collect();
    assert_eq!(names, "cfebda");
    assert_eq!(verdict(&all).primary, "c");
    all.retain(|one| one.state != "yes");
    let found = verdict(&all);
    assert_eq!((found.primary.as_str(), found.reasoning.len()), ("unknown", 2));
    all.retain(|one| one.state == "no");
    assert_eq!(verdict(&all).primary, "none");
}

#[test]
fn headroom_is_absent_without_anything_to_rest_on() {
    assert!(headroom_of(None, None).is_err());
    let parts = [part(0, "kernel", "A", 50), part(0, "kernel", "B", 50)];
    let mut path = longest(&parts).unwrap();
    path.saved_if_free_fraction = Some(0.5);
    let found = headroom_of(None, Some(&path)).unwrap();
    assert!(found.kernel.is_none());
    let program = found.program_speedup.unwrap();
    assert_eq!((program.low, program.high), (1.0, 2.0));
}
