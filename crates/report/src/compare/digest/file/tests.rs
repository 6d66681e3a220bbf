use std::fs::File;

use super::*;

#[test]
fn a_digest_is_read_as_it_was_written() {
    let mut times = Times { span_ns: 100, compute_ns: 40, ..Times::default() };
    times.idle_ns.insert("sync".to_owned(), 60);
    let calls = Calls {
        calls: 3,
        total_ns: 40,
        median_x2_ns: 26,
        p95_ns: 14,
        p99_ns: 14,
        log_mean: 2.5,
        blocks: vec![0.1, 0.2],
        clock: Clock { time_ns: 30, cycles: 1.0 / 3.0 },
    };
    let kernel = KernelDigest {
        name: "gemm<float>".to_owned(),
        category: "gemm".to_owned(),
        is_transfer: true,
        run: calls.clone(),
        steady: Calls::default(),
        places: vec![26, 27],
        iteration_blocks: vec![1.0 / 3.0],
        shapes: vec![
            Shape { sizes: [1, 2, 3, 64, 1, 1, 9], run: (3, 40), run_logs: vec![2.5, 2.4, 2.6], ..Shape::default() },
            Shape { sizes: [2, 2, 3, 64, 1, 1, 0], steady: (1, 4), steady_logs: vec![0.5], ..Shape::default() },
        ],
    };
    let gpu = GpuDigest {
        gpu: 1,
        run: times.clone(),
        iterations: vec![times.clone(), Times::default()],
        kernels_per_iteration: vec![3, 0],
        transfers: vec![kernel.clone()],
        kernels: vec![
            KernelDigest { is_transfer: false, ..kernel },
            KernelDigest { name: "copy".to_owned(), ..KernelDigest::default() },
        ],
        copies: vec![CopyDigest { direction: "H2D".to_owned(), run: (1, 5), steady: (0, 0) }],
        typical: vec![1, 0, 1],
        ..GpuDigest::default()
    };
    let text = str::to_owned;
    let path = PathDigest { process: 1, kind: text("api"), name: text("hipMalloc"), run_ns: 5, steady_ns: 2 };
    let counter =
        CounterDigest { kernel: text("k"), counter: text("WAVES"), dispatches: 2, sum: -0.1, blocks: vec![1.0, -1.2] };
    let gpus = vec![gpu.clone(), GpuDigest::default()];
    let mut digest =
        Digest { gpus, paths: vec![path.clone()], ranges: vec![path], counters: vec![counter], ..Digest::default() };
    digest.facts.architectures.insert("gfx942".to_owned());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.wsd");
    write(&digest, &mut File::create(&path).unwrap()).unwrap();
    assert!(is_digest(&path));
    let mut found = read(&path).unwrap();
    assert_eq!(found.facts.inputs, [path.display().to_string()]);
    found.facts.inputs.clear();
    assert_eq!(found, digest);
    std::fs::write(&path, b"PAR1 something else").unwrap();
    assert!(is_digest(&path) && read(&path).is_err());
    let other = directory.path().join("a.parquet");
    std::fs::write(&other, b"PAR1 something else").unwrap();
    assert!(!is_digest(&other));
}

#[test]
fn numbers_that_no_run_has_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.wsd");
    let refused = |change: &dyn Fn(&mut GpuDigest)| {
        let mut gpu = GpuDigest { kernels: vec![KernelDigest::default()], ..GpuDigest::default() };
        change(&mut gpu);
        write(&Digest { gpus: vec![gpu], ..Digest::default() }, &mut File::create(&path).unwrap()).unwrap();
        read(&path).is_err_and(|error| error.to_string().contains("a damaged digest"))
    };
    assert!(!refused(&|_| {}));
    assert!(refused(&|gpu| gpu.run.span_ns = -1));
    assert!(refused(&|gpu| gpu.kernels[0].run.total_ns = i64::MAX));
    assert!(refused(&|gpu| gpu.kernels[0].run.log_mean = f64::NAN));
    assert!(refused(&|gpu| gpu.kernels[0].iteration_blocks = vec![f64::INFINITY]));
    assert!(refused(&|gpu| gpu.typical = vec![1]));
    assert!(refused(&|gpu| gpu.copies = vec![CopyDigest { run: (1, i64::MIN), ..CopyDigest::default() }]));
}

#[test]
fn shapes_have_all_levels_and_no_others() {
    let values = [1, 1, 1, 64, 1, 1, 2, 40, 1, 4, 2, 1];
    assert_eq!(shapes(1, &values, &[0.1, 0.2, 0.3]).unwrap()[0].steady_logs, [0.3]);
    for levels in [&[0.1, 0.2][..], &[0.1, 0.2, 0.3, 0.4]] {
        assert!(shapes(1, &values, levels).is_err() && shapes(2, &values, &[0.1, 0.2, 0.3]).is_err());
    }
}

/// Digests of older versions can be read, with a warning that their bytes cannot be checked.
#[test]
fn a_digest_without_a_sum_warns() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.wsd");
    write(&Digest::default(), &mut File::create(&path).unwrap()).unwrap();
    assert_eq!(read(&path).unwrap().warning(), None);
    let mut content = std::fs::read(&path).unwrap();
    for (mark, other) in [("\"has_sum\"", "\"had_sum\""), ("xxh3-128 of", "xxh3-129 of")] {
        let at = memchr::memmem::find(&content, mark.as_bytes()).unwrap();
        content[at..at + other.len()].copy_from_slice(other.as_bytes());
    }
    std::fs::write(&path, content).unwrap();
    let warning = read(&path).unwrap().warning().unwrap();
    assert!(warning.contains("a.wsd") && warning.contains("save it again"), "{warning}");
}
