//! Datasets in object stores: the same answers as in a folder, only what is asked for is fetched, and failures are named.

use std::path::Path;
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::common::{Run, finish, program, run, succeed};
use crate::object_server::{Fault, ObjectServer};

const SECRET: &str = "never-to-be-printed";

/// A dataset of the two nodes, made once.
fn dataset() -> &'static Path {
    static DATASET: OnceLock<TempDir> = OnceLock::new();
    let made = DATASET.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        succeed(&["convert", "fixtures/two_nodes", "-o", directory.path().join("dataset").to_str().unwrap(), "-q"]);
        directory
    });
    Box::leak(made.path().join("dataset").into_boxed_path())
}

/// A server that holds it.
fn server() -> ObjectServer {
    let server = ObjectServer::start();
    server.hold(dataset(), "traces/run");
    server
}

fn ask_within(server: &ObjectServer, seconds: &str, arguments: &[&str]) -> Run {
    let mut command = program(arguments);
    command.env("AWS_ACCESS_KEY_ID", "someone").env("AWS_SECRET_ACCESS_KEY", SECRET).env("AWS_SESSION_TOKEN", SECRET);
    command.env("AWS_REGION", "us-east-1").env("AWS_ALLOW_HTTP", "true").env("WAVESIEVE_STORE_SECONDS", seconds);
    command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", server.port));
    let run = finish(command);
    assert!(!run.stdout.contains(SECRET) && !run.stderr.contains(SECRET), "{}", run.stderr);
    run
}

fn ask(server: &ObjectServer, arguments: &[&str]) -> Run {
    ask_within(server, "20", arguments)
}

#[test]
fn answers_are_those_of_the_folder() {
    let server = server();
    let local = dataset().to_str().unwrap();
    let web = format!("http://127.0.0.1:{}/traces/run", server.port);
    let questions: [&[&str]; 5] = [
        &["table", "kernel_summary,time_breakdown,collectives", "-f", "json"],
        &["info"],
        &["check"],
        &["analyze", "-f", "json"],
        &["sql", "SELECT COUNT(*) AS n, SUM(bytes) AS bytes FROM memory_copies"],
    ];
    for question in questions {
        let expected = run(&[question, &[local]].concat());
        for address in ["s3://traces/run", web.as_str()] {
            let found = ask(&server, &[question, &[address]].concat());
            assert_eq!(found.code, expected.code, "{question:?} {address}: {}", found.stderr);
            assert_eq!(found.stdout.replace(address, local), expected.stdout, "{question:?} {address}");
        }
    }
    let compared = ask(&server, &["compare", local, "s3://traces/run", "-f", "json"]);
    assert_eq!(compared.code, 0, "{}", compared.stderr);
}

#[test]
fn only_what_is_asked_for_is_fetched() {
    let server = server();
    let all: u64 = crate::common::listing(dataset()).iter().map(|(_, bytes)| bytes).sum();
    let of = |arguments: &[&str]| {
        server.take_counts();
        assert_eq!(ask(&server, &[arguments, &["s3://traces/run"]].concat()).code, 0);
        server.take_counts().0
    };
    let (info, one_column) = (of(&["info"]), of(&["sql", "SELECT SUM(duration_ns) AS ns FROM kernels"]));
    let content = of(&["check"]);
    assert!(info < all / 5, "{info} of {all}");
    assert!(one_column < all / 3 && one_column < content, "{one_column} of {all}, {content}");
}

#[test]
fn busy_servers_are_asked_again() {
    let server = server();
    server.set(Fault::Busy(2));
    let run = ask(&server, &["table", "kernel_summary", "s3://traces/run"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn failures_are_named() {
    let server = server();
    let question = ["table", "kernel_summary", "s3://traces/run"];
    let cases = [
        (Fault::Refused("AccessDenied"), "refuses access to s3://traces/run/manifest.json; check the credentials"),
        (Fault::Refused("ExpiredToken"), "the credentials have expired; renew them"),
        (Fault::Silent, "does not answer for s3://traces/run/manifest.json"),
        (Fault::Cut, "does not answer for s3://traces/run/manifest.json"),
    ];
    for (fault, expected) in cases {
        server.set(fault);
        let run = ask_within(&server, "2", &question);
        assert_eq!(run.code, 1, "{fault:?}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{fault:?}: {}", run.stderr);
    }
    // The facts are fetched after the manifest.
    server.set_for("_processes.json.zst", Fault::Refused("ExpiredToken"));
    let run = ask_within(&server, "2", &question);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("the credentials have expired; renew them"), "{}", run.stderr);
    // Layout 1 has none.
    let older = r#"{"format":"wavesieve-dataset","layout_version":1,"categories_hash":"","damage":[],"processes":[]}"#;
    server.change("traces/run/manifest.json", |manifest| *manifest = older.into());
    let run = ask_within(&server, "2", &question);
    let output = [run.stdout, run.stderr].concat();
    assert!(output.contains("a dataset of an older version"), "{output}");
}

#[test]
fn a_connection_that_is_lost_in_a_query_is_no_answer() {
    let server = server();
    let faults = [
        (Fault::Cut, "does not answer for s3://traces/run/kernels/part-00000.parquet"),
        (Fault::Silent, "does not answer for s3://traces/run/kernels/part-00000.parquet"),
        (Fault::Refused("ExpiredToken"), "the credentials have expired; renew them"),
    ];
    for (fault, expected) in faults {
        server.set_in_queries(fault);
        for question in
            [&["table", "kernel_summary"][..], &["sql", "SELECT SUM(duration_ns) AS ns FROM kernels"], &["analyze"]]
        {
            let run = ask_within(&server, "1", &[question, &["s3://traces/run"]].concat());
            assert!([1, 3, 5].contains(&run.code), "{question:?} {fault:?}: {} {}", run.code, run.stderr);
            assert!(run.code == 5 || run.stdout.is_empty(), "{question:?} {fault:?}: {}", run.stdout);
            let output = [run.stdout, run.stderr].concat();
            assert!(output.contains(expected), "{question:?} {fault:?}: {output}");
        }
    }
}

#[test]
fn damaged_and_missing_objects_lose_only_themselves() {
    let server = server();
    server.change("traces/run/memory_copies/part-00000.parquet", |object| object[200] ^= 1);
    server.remove("traces/run/regions/part-00000.parquet");
    let copies = ask(&server, &["check", "s3://traces/run"]);
    assert_eq!(copies.code, 5, "{}", copies.stderr);
    let output = [copies.stdout, copies.stderr].concat();
    assert!(output.contains("s3://traces/run/memory_copies/part-00000.parquet"), "{output}");
    assert!(output.contains("its content changed after it was written"), "{output}");
    assert!(output.contains("s3://traces/run/regions/part-00000.parquet"), "{output}");
    assert!(output.contains("the file is missing"), "{output}");
    assert!(!output.contains("wavesieve-"), "a temporary path is shown: {output}");
    assert_eq!(ask(&server, &["table", "kernel_summary", "s3://traces/run"]).code, 0);
}

#[test]
fn what_is_no_address_of_a_dataset_is_refused() {
    let server = server();
    for (address, expected) in [
        ("s3://traces/none", "there is no dataset (no manifest.json)"),
        ("s3://traces/rank0_results.db", "are not read over the network; convert them where they lie"),
        ("ftp://traces/run", "ftp://: datasets are not read from there"),
        ("file:///tmp/x", "name the path without file://"),
        ("s3://me:never-to-be-printed@traces/run", "do not put credentials into the address"),
        ("https://host/run?sig=never-to-be-printed", "leave out what begins with ? or #"),
        ("s3:///run", "invalid address"),
    ] {
        let run = ask(&server, &["info", address]);
        assert_eq!(run.code, 2, "{address}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{address}: {}", run.stderr);
    }
}

#[test]
fn a_conversion_is_sent_once() {
    let server = ObjectServer::start();
    let convert =
        |input: &str, more: &[&str]| ask(&server, &[&["convert", input, "-o", "s3://out/run"], more].concat());
    let first = convert("fixtures/two_nodes", &[]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    let (_, puts) = server.take_counts();
    assert!(puts > 10 && first.stderr.contains(&format!("sent {puts} of {puts} files")), "{}", first.stderr);
    let local = succeed(&["table", "kernel_summary", "fixtures/two_nodes"]);
    assert_eq!(ask(&server, &["table", "kernel_summary", "s3://out/run"]).stdout, local);
    let again = convert("fixtures/two_nodes", &[]);
    assert!(again.stderr.contains("sent 0 of"), "{}", again.stderr);
    assert_eq!(server.take_counts().1, 0);
    // Another trace is refused, and replaces the first with --overwrite, of which nothing is left.
    let other = convert("fixtures/counters", &[]);
    assert_eq!(other.code, 2);
    assert!(other.stderr.contains("was converted from other inputs"), "{}", other.stderr);
    let other = convert("fixtures/counters", &["--overwrite"]);
    assert!(other.code == 0 && other.stderr.contains("deleted"), "{}", other.stderr);
    let counters = succeed(&["table", "counter_summary", "fixtures/counters"]);
    assert_eq!(ask(&server, &["table", "counter_summary", "s3://out/run"]).stdout, counters);
}

#[test]
fn what_is_sent_in_part_is_no_dataset_and_is_completed() {
    let server = ObjectServer::start();
    let convert = || ask(&server, &["convert", "fixtures/two_nodes", "-o", "s3://out/run"]);
    assert_eq!(convert().code, 0);
    server.remove("out/run/manifest.json");
    server.remove("out/run/kernels/part-00000.parquet");
    server.take_counts();
    assert_eq!(ask(&server, &["info", "s3://out/run"]).code, 2);
    assert_eq!(convert().code, 0);
    assert_eq!(ask(&server, &["check", "s3://out/run", "-q"]).code, run(&["check", "fixtures/two_nodes", "-q"]).code);
}

#[test]
fn what_convert_cannot_send_is_refused() {
    let server = ObjectServer::start();
    server.hold(Path::new("fixtures/source"), "out/other");
    for (arguments, expected) in [
        (["-o", "s3://out/run", "--to", "csv"].as_slice(), "only datasets are sent to stores"),
        (["-o", "s3://out/run", "--shard", "1/2"].as_slice(), "shards are not sent to stores"),
        (["-o", "s3://out/other"].as_slice(), "which convert did not write"),
    ] {
        let run = ask(&server, &[&["convert", "fixtures/two_nodes"], arguments].concat());
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{arguments:?}: {}", run.stderr);
    }
    assert!(server.keys().iter().all(|key| key.starts_with("out/other")));
}
