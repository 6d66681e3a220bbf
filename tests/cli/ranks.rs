//! Comparison of ranks, collectives and clocks: small traces whose answers are worked out here.

use serde_json::{Value, json};

use crate::common::{listing, number, real, records, run};
use crate::idling::{COLLECTIVE, FIRST_GPU, GEMM, process_of, written};
use crate::rocprofv3_documents::{INIT, dispatch, document};

/// A process on a machine whose clock is ahead by `ahead`, with kernels of its first GPU: the kernel, start and end since
/// the start of the process, which ends after 10 µs.
fn rank(pid: i64, machine: &str, ahead: i64, kernels: &[(i64, i64, i64)]) -> Value {
    let base = INIT + ahead;
    let dispatches = kernels
        .iter()
        .zip(1..)
        .map(|((kernel, start, end), id)| dispatch(id, *kernel, FIRST_GPU, base + start, base + end))
        .collect();
    let mut process = process_of(pid, &[("kernel_dispatch", dispatches)]);
    process["metadata"]["init_time"] = json!(base);
    process["metadata"]["fini_time"] = json!(base + 10_000);
    process["metadata"]["node"]["machine_id"] = json!(machine);
    process["metadata"]["node"]["hostname"] = json!(machine);
    process
}

/// Two ranks on one machine and a third on another, whose clock is 100 µs ahead. Each works, then meets the others:
///
/// | rank | work | collective 0 | work | collective 1 |
/// | --- | --- | --- | --- | --- |
/// | 0 | 1000–3000 | 3000–5000 | 5000–6000 | 6000–7000 |
/// | 1 | 1000–4000 | 4000–5010 | 5010–6500 | 6500–7000 |
/// | 2 | 1000–2000 | 2000–4990 | 5000–6200 | 6200–7010 |
fn three_ranks() -> Vec<Value> {
    let times = |first: [i64; 3], second: [i64; 3]| {
        [
            (GEMM, 1_000, first[0]),
            (COLLECTIVE, first[0], first[1]),
            (GEMM, first[2], second[0]),
            (COLLECTIVE, second[0], second[1]),
        ]
    };
    vec![
        rank(1, "m1", 0, &times([3_000, 5_000, 5_000], [6_000, 7_000, 0])),
        rank(2, "m1", 0, &times([4_000, 5_010, 5_010], [6_500, 7_000, 0])),
        rank(3, "m2", 100_000, &times([2_000, 4_990, 5_000], [6_200, 7_010, 0])),
    ]
}

fn numbers(row: &Value, names: &[&str]) -> Vec<Option<i64>> {
    names.iter().map(|name| row[*name].as_f64().map(|number| number.round() as i64)).collect()
}

/// Inequality of ranks, in percent with three digits: work of 3000, 4490 and 2200 ns, mean 3230, so that the greatest is
/// 39.009 % above it, and the deviations -230, 1260 and -1030 have a mean square of 900466.67, 29.379 % of the mean.
#[test]
fn imbalance_is_told_for_every_metric() {
    let (_directory, input) = written(&three_ranks());
    let rows = records(&["table", "rank_imbalance", &input]);
    let row = |metric: &str| rows.iter().find(|row| row["metric"] == metric).unwrap();
    let compute = row("compute");
    assert_eq!(
        numbers(
            compute,
            &["gpus", "min_ns", "median_ns", "mean_ns", "max_ns", "worst_rank", "worst_gpu", "least_rank"]
        ),
        [3, 2_200, 3_000, 3_230, 4_490, 1, 0, 2].map(Some)
    );
    assert_eq!(format!("{:.3}", compute["excess_pct"].as_f64().unwrap()), "39.009");
    assert_eq!(format!("{:.3}", compute["cov_pct"].as_f64().unwrap()), "29.379");
    // In collectives 3000, 1510 and 3800 ns: rank 1 waits least, it is the one that comes late.
    assert_eq!(numbers(row("communication"), &["min_ns", "max_ns", "least_rank"]), [1_510, 3_800, 1].map(Some));
    // Rank 2 alone has a pause, 4990–5000.
    assert_eq!(numbers(row("idle"), &["min_ns", "median_ns", "max_ns", "worst_rank"]), [0, 0, 10, 2].map(Some));
    let dispatches = records(&["table", "rank_imbalance", &input, "--metric", "dispatches", "--by", "category"]);
    let of = |category: &str| dispatches.iter().find(|row| row["category"] == category).unwrap();
    assert_eq!(numbers(of("gemm"), &["gpus", "min_dispatches", "max_dispatches"]), [3, 2, 2].map(Some));
    let wrong = run(&["table", "rank_imbalance", &input, "--metric", "heat"]);
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    assert!(wrong.stderr.contains("exposed_communication"), "{}", wrong.stderr);
}

/// A kernel that one of two ranks does not run is 0 there, and has no mean.
#[test]
fn what_a_rank_does_not_run_counts_as_nothing() {
    let processes = [rank(1, "m1", 0, &[(GEMM, 0, 100), (COLLECTIVE, 100, 200)]), rank(2, "m1", 0, &[(GEMM, 0, 300)])];
    let (_directory, input) = written(&processes);
    let rows = records(&["table", "rank_imbalance", &input, "--by", "category"]);
    let of = |metric: &str, category: &str| {
        let row = rows.iter().find(|row| row["metric"] == metric && row["category"] == category).unwrap();
        numbers(row, &["gpus", "min_ns", "mean_ns", "max_ns", "worst_rank"])
    };
    assert_eq!(of("kernel_time", "communication"), [2, 0, 50, 100, 0].map(Some));
    assert_eq!(of("mean_kernel", "communication"), [1, 100, 100, 100, 0].map(Some));
    assert_eq!(of("kernel_time", "gemm"), [2, 100, 200, 300, 1].map(Some));
}

/// Work of 2 calls: 3000, 4490 and 2200 ns, means 1500, 2245 and 1100, the median 1500. Rank 0 has 6000 ns of kernels.
#[test]
fn kernels_are_compared_with_the_median_of_the_ranks() {
    let (_directory, input) = written(&three_ranks());
    let rows = records(&["table", "rank_by_kernel", &input, "--top", "1"]);
    let rows: Vec<Vec<Option<i64>>> =
        rows.iter().map(|row| numbers(row, &["rank", "gpu", "calls", "total_ns", "mean_ns", "gpus"])).collect();
    let expected = [[0, 0, 2, 3_000, 1_500, 3], [1, 0, 2, 4_490, 2_245, 3], [2, 0, 2, 2_200, 1_100, 3]];
    assert_eq!(rows, expected.map(|row| row.map(Some).to_vec()));
    let first = &records(&["table", "rank_by_kernel", &input, "--rank", "0"])[0];
    assert_eq!(numbers(first, &["pct", "mean_vs_median"]), [50, 1].map(Some));
    let slow = &records(&["table", "rank_by_kernel", &input])[1];
    assert_eq!(format!("{:.4}", slow["mean_vs_median"].as_f64().unwrap()), "1.4967");
}

/// Rank 0 works without a pause from 1000 to 7000, in 3000–5000 and from 6000 on in collectives, rank 1 as long: four stretches
/// of 1500 ns. Rank 2 works for 6010 ns, of which a quarter is 1503 ns: 1000 ns compute, then a collective.
#[test]
fn the_map_has_the_busy_share_of_every_stretch() {
    let (_directory, input) = written(&three_ranks());
    let map = |options: &[&str]| records(&[&["table", "gpu_utilization_map", &input], options].concat());
    let of_rank = |rows: &[Value], rank: i64| {
        let rows = rows.iter().filter(move |row| row["rank"] == rank);
        rows.map(|row| numbers(row, &["begin_ns", "busy_ns", "busy_pct", "compute_pct", "comm_pct"]))
            .collect::<Vec<_>>()
    };
    let expected = [
        [0, 1_500, 100, 100, 0],
        [1_500, 1_500, 100, 33, 67],
        [3_000, 1_500, 100, 33, 67],
        [4_500, 1_500, 100, 33, 67],
    ];
    assert_eq!(of_rank(&map(&["--bins", "4", "--rank", "0-1"]), 0), expected.map(|row| row.map(Some).to_vec()));
    // The clock that is ahead changes nothing, for times count from the first activity of each process.
    let rows = map(&["--bins", "4"]);
    assert_eq!(of_rank(&rows, 2)[0], [0, 1_503, 100, 67, 33].map(Some));
    assert!(rows.iter().all(|row| row["axis"] == "own start"), "{rows:?}");
    // On one axis it does: 100 010 ns of the other clock are taken off, and its process begins 10 ns before the others.
    let rows = map(&["--bins", "1", "--align", "collectives"]);
    assert!(rows.iter().all(|row| row["axis"] == "aligned" && row["length_ns"] == 6_010), "{rows:?}");
}

const OF_COLLECTIVE: [&str; 10] =
    ["collective", "gpus", "missing", "cost_ns", "max_ns", "wait_ns", "skew_ns", "leave_ns", "overlap_ns", "last_rank"];

fn collectives(input: &str, options: &[&str]) -> Vec<Vec<Option<i64>>> {
    let rows = records(&[&["table", "collectives", input], options].concat());
    rows.iter().map(|row| numbers(row, &OF_COLLECTIVE)).collect()
}

/// Durations of 2000, 1010 and 2990 ns in collective 0, so that 990 + 1980 ns were waited; of 1000, 500 and 810 ns in the
/// other. Starts on different clocks are not compared; the shortest came last.
///
/// The machines leave them at 5000 (lower median of 5000 and 5010) and 104990, and at 7000 and 107010: the second clock is
/// ahead by 99990 or 100010, of which the median (the lower of the negative ones) is taken. Then rank 2 comes at 1990 and
/// leaves at 4980, and at 6190 and 7000.
#[test]
fn collectives_are_matched_and_clocks_aligned_by_them() {
    let (_directory, input) = written(&three_ranks());
    let apart = [
        [Some(0), Some(3), Some(0), Some(1_010), Some(2_990), Some(2_970), None, None, None, Some(1)],
        [Some(1), Some(3), Some(0), Some(500), Some(1_000), Some(810), None, None, None, Some(1)],
    ];
    assert_eq!(collectives(&input, &[]), apart);
    let said = run(&["table", "collectives", &input]).stderr;
    assert!(said.contains("among ranks of one clock: 0-1 | 2"), "{said}");
    let aligned = [[0, 3, 0, 1_010, 2_990, 2_970, 2_010, 30, 980, 1], [1, 3, 0, 500, 1_000, 810, 500, 0, 500, 1]];
    assert_eq!(collectives(&input, &["--align", "collectives"]), aligned.map(|row| row.map(Some)));
    let said = run(&["table", "collectives", &input, "--align", "collectives"]).stderr;
    assert!(said.contains("ends of 2 collectives on one clock lie 0 ns apart in the median, 30 ns at most"), "{said}");
    // Every process begins at 0: 100 000 ns are taken off, and rank 2 comes at 2000 and leaves at 4990.
    let skews = |options: &[&str]| collectives(&input, options).iter().map(|row| (row[6], row[7])).collect::<Vec<_>>();
    let expected = [(Some(2_000), Some(20)), (Some(500), Some(10))];
    assert_eq!(skews(&["--align", "process-start"]), expected);
    // One machine alone needs nothing.
    assert_eq!(skews(&["--rank", "0-1"]), [(Some(1_000), Some(10)), (Some(500), Some(0))]);
}

#[test]
fn offsets_come_from_a_file() {
    let (directory, input) = written(&three_ranks());
    let file = directory.path().join("offsets.csv");
    let skews = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let rows = collectives(&input, &["--align", file.to_str().unwrap()]);
        rows.iter().map(|row| row[6]).collect::<Vec<_>>()
    };
    assert_eq!(skews("hostname,offset_ns\nm2,-100000\nm1,0\n"), [Some(2_000), Some(500)]);
    assert_eq!(skews("rank,offset_ns\n0,0\n1,0\n2,-99000\n"), [Some(1_000), Some(1_200)]);
    // Ranks without an offset stay on the clock of their machine.
    assert_eq!(skews("rank,offset_ns\n2,-100000\n"), [None, None]);
    for (text, part) in [
        ("a,b\n1,2\n", "hostname,offset_ns"),
        ("rank,offset_ns\n0,x\n", ":2: x"),
        ("rank,offset_ns\n0,1\n0,2\n", ":3: 0"),
        ("rank,offset_ns\n0,1\n7,2\n", "no process has rank 7; available: 0, 1, 2"),
        ("hostname,offset_ns\nm3,1\n", "no process has hostname m3; available: m1, m2"),
        ("rank,offset_ns\n0,9223372036854775807\n", ":2: 9223372036854775807"),
    ] {
        std::fs::write(&file, text).unwrap();
        let wrong = run(&["table", "collectives", &input, "--align", file.to_str().unwrap()]);
        assert_eq!(wrong.code, 2, "{}", wrong.stderr);
        assert!(wrong.stderr.contains(part), "{}", wrong.stderr);
    }
    std::fs::write(&file, "rank,offset_ns\n0,1\n1,1\n2,1\n").unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(run(&["table", "collectives", &input, "--align", file, "--rank", "0-1"]).code, 0);
    let wrong = run(&["table", "collectives", &input, "--align", "nowhere.csv"]);
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
}

/// Rank 0 meets another four times. Of rank 1 the second was not recorded, and one call belongs to none: what ends together
/// is one collective, nothing is shifted.
#[test]
fn calls_that_are_missing_shift_nothing() {
    let ends = |ends: &[i64]| ends.iter().map(|end| (COLLECTIVE, end - 400, *end)).collect::<Vec<_>>();
    let mut other = ends(&[2_010, 6_005, 8_000]);
    other.push((COLLECTIVE, 8_500, 8_600));
    other.push((COLLECTIVE, 8_800, 8_900));
    let processes = [rank(1, "m1", 0, &ends(&[2_000, 4_000, 6_000, 8_000])), rank(2, "m1", 0, &other)];
    let (_directory, input) = written(&processes);
    let rows = records(&["table", "collectives", &input]);
    let told: Vec<_> = rows
        .iter()
        .map(|row| (row["collective"].as_i64(), numbers(row, &["gpus", "missing", "leave_ns", "lowest_rank"])))
        .collect();
    // Rank 1 has most calls, so that its calls without partners have numbers; that of rank 0 has none and comes last.
    let both = |number, leave_ns| (Some(number), [2, 0, leave_ns, 0].map(Some).to_vec());
    let alone = |number, rank| (number, vec![Some(1), Some(1), None, Some(rank)]);
    assert_eq!(told, [both(0, 10), both(1, 5), both(2, 0), alone(Some(3), 1), alone(Some(4), 1), alone(None, 0)]);
    assert!(rows.iter().take(3).all(|row| row["matched_by"] == "time"), "{rows:?}");
    let summary = records(&["table", "collective_summary", &input, "--by", "rank"]);
    let told: Vec<_> =
        summary.iter().map(|row| numbers(row, &["calls", "matched", "unmatched", "last_calls"])).collect();
    // Rank 1 comes 10 and 5 ns later, then both at once, which counts for the lower rank.
    assert_eq!(told, [[4, 3, 1, 1].map(Some), [5, 3, 2, 2].map(Some)]);
}

/// Four ranks meet at 1000, to which rank 0 comes 500 ns late because it began later, work for 5000, 5000, 5010 and 7000 ns
/// and meet at 9000. Of spans of 9000 ns rank 3 takes 1995 ns more than the median of 5005: 22.17 %. The ranks deviate by 5, 5, 5 and 1995 ns, a spread of 1.4826 times 5 ns, of which it is 269.12
/// away. It comes to the collective 2000 ns later than the first, the others 0, 0 and 10.
#[test]
fn a_straggler_is_named_and_nobody_else() {
    let work = [5_000, 5_000, 5_010, 7_000];
    let one = |(work, pid): (&i64, i64)| {
        let begin = if pid == 1 { 500 } else { 0 };
        let kernels = [(COLLECTIVE, begin, 1_000), (GEMM, 1_000, 1_000 + work), (COLLECTIVE, 1_000 + work, 9_000)];
        rank(pid, "m1", 0, &kernels)
    };
    let processes: Vec<Value> = work.iter().zip(1..).map(one).collect();
    let (_directory, input) = written(&processes);
    let rows = records(&["table", "stragglers", &input]);
    let told: Vec<_> = rows
        .iter()
        .map(|row| (row["what"].as_str().unwrap(), numbers(row, &["rank", "excess_ns", "amount_ns", "last_pct"])))
        .collect();
    let expected = [("compute", 7_000, None), ("slow_kernels", 1_995, None), ("late", 2_000, Some(100))]
        .map(|(what, amount, last)| (what, vec![Some(3), Some(1_995), Some(amount), last]));
    assert_eq!(told, expected);
    assert_eq!(
        format!("{:.4} {:.2}", rows[0]["excess_pct"].as_f64().unwrap(), rows[0]["z"].as_f64().unwrap()),
        "22.1667 269.12"
    );
    assert_eq!(records(&["table", "stragglers", &input, "--min-pct", "25"]), Vec::<Value>::new());
    // One of two is slower than the other.
    let (_directory, input) = written(&processes[2..]);
    let rows = records(&["table", "stragglers", &input]);
    let told: Vec<_> =
        rows.iter().map(|row| (row["what"].as_str().unwrap(), numbers(row, &["rank", "excess_ns"]))).collect();
    assert_eq!(told, ["compute", "slow_kernels", "late"].map(|what| (what, vec![Some(1), Some(1_990)])));
}

/// Rank 3 comes to the second collective 2000 ns after the others, which compute meanwhile: no rank waits. When one of them
/// has computed 1500 ns less, it waits so long with nothing to do, 16.67 % of 9000 ns.
#[test]
fn lateness_that_computing_hides_costs_nothing() {
    for (work, late) in [(8_000, None), (6_500, Some(1_500))] {
        let one = |pid: i64| {
            let (from, work) = if pid == 4 { (8_000, 8_000) } else { (6_000, if pid == 1 { work } else { 8_000 }) };
            let kernels = [(COLLECTIVE, 0, 1_000), (GEMM, 1_000, 1_000 + work), (COLLECTIVE, from, 9_000)];
            rank(pid, "m1", 0, &kernels)
        };
        let (_directory, input) = written(&(1..=4).map(one).collect::<Vec<_>>());
        let rows = records(&["table", "stragglers", &input]);
        let told: Vec<_> =
            rows.iter().map(|row| (row["what"].as_str().unwrap(), numbers(row, &["rank", "excess_ns"]))).collect();
        assert_eq!(
            told,
            late.map(|late| ("late", vec![Some(3), Some(late)])).into_iter().collect::<Vec<_>>(),
            "{work}"
        );
    }
}

/// Two ranks meet eight times for 100 ns. To the fourth rank 1 comes 500 ns late: rank 0 waits so long, its call is no
/// slower than the others. The sixth takes 600 ns on both. To the first rank 0 comes 400 ns late.
#[test]
fn a_wait_for_others_is_no_outlier() {
    let one = |pid: i64, early: [i64; 8]| {
        let kernels: Vec<_> = (0..8)
            .map(|at: usize| {
                let end = 1_000 * (at as i64 + 1);
                (COLLECTIVE, end - 100 - early[at] - if at == 5 { 500 } else { 0 }, end)
            })
            .collect();
        rank(pid, "m1", 0, &kernels)
    };
    let processes = [one(1, [0, 0, 0, 500, 0, 0, 0, 0]), one(2, [400, 0, 0, 0, 0, 0, 0, 0])];
    let (_directory, input) = written(&processes);
    let told = |query: &str, columns: &[&str]| -> Vec<_> {
        records(&["table", query, &input]).iter().map(|row| numbers(row, columns)).collect()
    };
    let slow = |rank: i64| [rank, 1, 600, 500].map(Some).to_vec();
    assert_eq!(told("kernel_outliers", &["rank", "outliers", "worst_ns", "excess_ns"]), [slow(0), slow(1)]);
    let slow = |process: i64| [process, 6, 600, 0, 500].map(Some).to_vec();
    let columns = ["process", "dispatch_id", "duration_ns", "wait_ns", "excess_ns"];
    assert_eq!(told("outlier_dispatches", &columns), [slow(0), slow(1)]);
    let warm = records(&["table", "kernel_warmup", &input, "--min-excess-us", "0"]);
    assert!(warm.iter().all(|row| row["first_ns"] == 100 && row["verdict"] == "steady"), "{warm:?}");
}

/// Costs of collectives and waiting in them add up to the time of their calls.
#[test]
fn times_in_collectives_add_up() {
    assert_collectives_add_up("fixtures/two_nodes");
}

#[test]
#[cfg_attr(not(shared_data), ignore = "real traces are absent; set WAVESIEVE_DATA")]
fn times_in_real_collectives_add_up() {
    assert_collectives_add_up(&real("rocpd-ranks"));
}

fn assert_collectives_add_up(input: &str) {
    let sum = |query: &str, column: &str| -> i64 {
        records(&["table", query, input]).iter().map(|row| row[column].as_i64().unwrap_or_default()).sum()
    };
    let total = sum("collective_summary", "total_ns");
    assert!(total > 0, "{input}");
    assert_eq!(sum("collective_summary", "cost_ns") + sum("collective_summary", "wait_ns"), total, "{input}");
    assert_eq!(sum("collectives", "wait_ns"), sum("collective_summary", "wait_ns"), "{input}");
    let sql = "SELECT CAST(SUM(duration_ns) AS BIGINT) AS n FROM kernels WHERE valid AND category = 'communication'";
    assert_eq!(number(sql, input), total, "{input}");
}

/// A rank that is taken away changes what is known of the others, which are converted again.
#[test]
fn kept_collectives_are_those_of_the_processes_that_are_there() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    std::fs::create_dir(path("in")).unwrap();
    for (number, process) in three_ranks().into_iter().enumerate() {
        std::fs::write(path(&format!("in/{number}_results.json")), document(&[process]).to_string()).unwrap();
    }
    let convert = |output: &str| {
        let run = run(&["convert", &path("in"), "-o", &path(output), "--with", "collective_kernels"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let files = listing(&place.path().join(output).join("collective_kernels"));
        files.into_iter().map(|(file, _)| std::fs::read(file).unwrap()).collect::<Vec<_>>()
    };
    let all = convert("kept");
    assert_eq!(all.len(), 1, "ranks share a part");
    // Stored rows are never taken for an answer: of one rank alone nothing is a collective of several.
    let rows = records(&["table", "collectives", &path("kept"), "--rank", "2"]);
    assert!(rows.iter().all(|row| row["gpus"] == 1 && row["missing"] == 0), "{rows:?}");
    std::fs::remove_file(path("in/2_results.json")).unwrap();
    let fewer = convert("kept");
    assert_eq!(fewer, convert("fresh"));
    assert_ne!(fewer, all);
}

/// A query tells which of its options do not go together.
#[test]
fn what_kernels_have_no_share_in_is_not_grouped_by_them() {
    let wrong = run(&["table", "rank_imbalance", "fixtures/two_nodes", "--metric", "busy", "--by", "category"]);
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    assert!(wrong.stderr.contains("busy is not known of a category"), "{}", wrong.stderr);
    let rows = records(&["table", "rank_imbalance", "fixtures/two_nodes", "--metric", "busy", "--by", "node"]);
    assert_eq!(rows.len(), 2, "{rows:?}");
}
