use proptest::prelude::*;

use crate::analysis::gpu_time::segments::*;
use crate::analysis::intervals::union_length_ns;

fn activity(gpu: i64, start_ns: i64, end_ns: i64, activity: Activity) -> ActivityInterval {
    ActivityInterval { gpu, start_ns, end_ns, activity }
}

fn kinds() -> impl Strategy<Value = Activity> {
    prop_oneof![Just(Activity::Compute), Just(Activity::Communication), Just(Activity::Copy)]
}

fn small_activities() -> impl Strategy<Value = Vec<ActivityInterval>> {
    prop::collection::vec(
        (-1_i64..3, -20_i64..20, 0_i64..10, kinds())
            .prop_map(|(gpu, start, length, kind)| activity(gpu, start, start + length, kind)),
        0..25,
    )
}

fn row(gpu: i64, start_ns: i64, end_ns: i64, counts: [i64; 3]) -> Segment {
    let [compute, comm, copies] = counts;
    Segment { gpu, start_ns, end_ns, compute, comm, copies }
}

fn time_where(rows: &[Segment], mut chosen: impl FnMut(&Segment) -> bool) -> i64 {
    rows.iter().filter(|row| chosen(row)).map(|row| row.end_ns - row.start_ns).sum()
}

proptest! {
    #[test]
    fn every_gpu_is_tiled_and_counts_are_right(activities in small_activities()) {
        let all = segments(activities.clone());
        let start = activities.iter().map(|a| a.start_ns).min().unwrap_or(0);
        let end = activities.iter().map(|a| a.end_ns).max().unwrap_or(0);
        let mut gpus: Vec<i64> = activities.iter().map(|a| a.gpu).collect();
        gpus.sort_unstable();
        gpus.dedup();
        prop_assert!(all.is_sorted_by_key(|row| (row.gpu, row.start_ns)));
        if start == end {
            prop_assert!(all.is_empty());
            return Ok(());
        }
        prop_assert!(all.iter().all(|row| gpus.contains(&row.gpu)));

        for gpu in gpus {
            let rows: Vec<Segment> = all.iter().filter(|row| row.gpu == gpu).copied().collect();
            prop_assert_eq!(rows.first().map(|row| row.start_ns), Some(start));
            prop_assert_eq!(rows.last().map(|row| row.end_ns), Some(end));
            prop_assert!(rows.iter().all(|row| row.start_ns < row.end_ns));
            for pair in rows.windows(2) {
                prop_assert_eq!(pair[0].end_ns, pair[1].start_ns);
                prop_assert_ne!((pair[0].compute, pair[0].comm, pair[0].copies), (pair[1].compute, pair[1].comm, pair[1].copies));
            }
            let running = |kind: Activity, instant: i64| -> i64 {
                activities
                    .iter()
                    .filter(|a| a.gpu == gpu && a.activity == kind && a.start_ns <= instant && instant < a.end_ns)
                    .map(|_| 1)
                    .sum()
            };
            for row in &rows {
                for instant in row.start_ns..row.end_ns {
                    prop_assert_eq!(row.compute, running(Activity::Compute, instant));
                    prop_assert_eq!(row.comm, running(Activity::Communication, instant));
                    prop_assert_eq!(row.copies, running(Activity::Copy, instant));
                }
            }

            let covered = |kinds: &[Activity]| union_length_ns(
                activities
                    .iter()
                    .filter(|a| a.gpu == gpu && kinds.contains(&a.activity))
                    .map(|a| Interval::new(a.start_ns, a.end_ns)),
            );
            let busy = time_where(&rows, |r| r.compute + r.comm + r.copies > 0);
            let idle = time_where(&rows, |r| r.compute + r.comm + r.copies == 0);
            let compute = time_where(&rows, |r| r.compute > 0);
            let exposed_comm = time_where(&rows, |r| r.comm > 0 && r.compute == 0);
            let exposed_copy = time_where(&rows, |r| r.copies > 0 && r.compute == 0 && r.comm == 0);
            prop_assert_eq!(busy + idle, end - start);
            prop_assert_eq!(busy, compute + exposed_comm + exposed_copy);
            prop_assert_eq!(compute, covered(&[Activity::Compute]));
            prop_assert_eq!(time_where(&rows, |r| r.comm > 0), covered(&[Activity::Communication]));
            prop_assert_eq!(time_where(&rows, |r| r.copies > 0), covered(&[Activity::Copy]));
            prop_assert_eq!(busy, covered(&[Activity::Compute, Activity::Communication, Activity::Copy]));
        }
    }

    #[test]
    fn the_order_of_rows_does_not_matter(activities in small_activities()) {
        let mut reversed = activities.clone();
        reversed.reverse();
        prop_assert_eq!(segments(activities), segments(reversed));
    }

    #[test]
    fn any_times_are_survived(rows in prop::collection::vec((any::<(i64, i64, i64)>(), kinds()), 0..20)) {
        let all = segments(rows.into_iter().map(|((gpu, start, end), kind)| activity(gpu, start, end, kind)));
        prop_assert!(all.iter().all(|row| row.start_ns < row.end_ns));
    }
}

#[test]
fn idle_time_before_between_and_after_is_a_row() {
    let rows = segments([
        activity(0, 0, 10, Activity::Compute),
        activity(1, 2, 4, Activity::Copy),
        activity(1, 6, 8, Activity::Communication),
    ]);
    assert_eq!(
        rows,
        vec![
            row(0, 0, 10, [1, 0, 0]),
            row(1, 0, 2, [0; 3]),
            row(1, 2, 4, [0, 0, 1]),
            row(1, 4, 6, [0; 3]),
            row(1, 6, 8, [0, 1, 0]),
            row(1, 8, 10, [0; 3]),
        ]
    );
}

#[test]
fn work_of_zero_length_widens_the_span_only() {
    let rows = segments([
        activity(0, 5, 5, Activity::Compute),
        activity(1, 7, 9, Activity::Compute),
        activity(1, 9, 11, Activity::Compute),
    ]);
    assert_eq!(rows, vec![row(0, 5, 11, [0; 3]), row(1, 5, 7, [0; 3]), row(1, 7, 11, [1, 0, 0]),]);
    assert!(segments([activity(0, 5, 5, Activity::Compute)]).is_empty());
}
