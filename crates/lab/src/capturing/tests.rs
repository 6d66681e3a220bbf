//! Reports from event lines, and paths of the library.

use std::path::Path;

use super::*;
use wavesieve_captures::recording::Indices;

const EVENTS: &str = r#"{"pid":7,"event":"loaded"}
{"pid":7,"event":"kernel","name":"add","symbol":"add.kd","is_wanted":true}
{"pid":7,"event":"captured","name":"add","directory":"add.1","dispatch_index":1,"regions":3,"failed_regions":0,"bytes":4224,"stored_bytes":64,"seconds":0.5,"is_quiescent":true}
{"pid":8,"event":"loaded"}
{"pid":8,"event":"dispatches","name":"add","dispatches":2}
{"pid":7,"event":"dispatches","name":"add","dispatches":3}
{"pid":7,"event":"capt"#;

#[test]
fn lines_of_several_processes_become_one_report() {
    let report = Report::of_text(EVENTS, &"1".parse().unwrap());
    assert_eq!((report.processes, report.captures.len(), report.failures.len()), (2, 1, 0));
    assert_eq!(report.kernels.first().map(|seen| (seen.dispatches, seen.wanted)), Some((Some(5), true)));
    assert!(report.is_whole());
    assert_eq!(
        report.text(Path::new("out")),
        "out/add.1: dispatch 1 of add, 3 regions, 4224 bytes (64 kept) in 0.50 s\n"
    );
}

#[test]
fn nothing_has_a_reason() {
    let library = Path::new("/lib/x.so");
    let reason = |text: &str| Report::of_text(text, &Indices::default()).why_nothing("gemm", library);
    let silent = reason("");
    assert!(
        silent.contains("did not start the HSA runtime") && silent.contains("/lib/x.so did not report"),
        "{silent}"
    );
    assert!(reason(r#"{"pid":1,"event":"refused","reason":"too old"}"#).ends_with("too old"));
    let seen = "{\"pid\":1,\"event\":\"loaded\"}\n{\"pid\":1,\"event\":\"kernel\",\"name\":\"add\",\"symbol\":\"add.kd\",\"is_wanted\":WANTED}";
    assert!(reason(&seen.replace("WANTED", "false")).contains("no kernel matches `gemm`; there were add"));
    assert!(reason(&seen.replace("WANTED", "true")).contains("change --dispatch"));
}

#[test]
fn what_is_missing_makes_a_report_less_than_whole() {
    let report = Report::of_text(EVENTS, &"1,9".parse().unwrap());
    assert!(!report.is_whole());
    let text = report.text(Path::new("out"));
    assert!(text.contains("\nnot captured: dispatch 9 of add: the kernel was dispatched 3 times\n"), "{text}");
    // Process 8 dispatched no requested kernel.
    assert_eq!(report.missing.len(), 1);
    let lines = [10, 2, 1].map(|index| {
        let line = EVENTS.lines().nth(2).unwrap();
        line.replace("add.1", &format!("add\u{1b}.{index}"))
            .replace(r#""dispatch_index":1"#, &format!(r#""dispatch_index":{index}"#))
    });
    let report = Report::of_text(&lines.join("\n").replace('\u{1b}', r"\u001b"), &"1-2,10".parse().unwrap());
    let order: Vec<u64> = report.captures.iter().map(|capture| capture.dispatch_index).collect();
    assert_eq!(order, [1, 2, 10]);
    assert!(!report.text(Path::new("out")).contains('\u{1b}'));
}

#[test]
fn tools_of_the_user_stay() {
    let request = CaptureRequest {
        kernel: "a b".to_owned(),
        dispatches: "0".to_owned(),
        output: "/out".into(),
        is_reachable_only: true,
        is_compressed: true,
        limit: 3,
        wait_seconds: 60,
        threads: None,
    };
    let variables = request.variables(Path::new("/lib/x.so"), Some(" other.so "));
    assert_eq!(variables.first().map(|(_, value)| value.as_str()), Some("other.so /lib/x.so"));
    assert!(variables.contains(&("WAVESIEVE_CAPTURE_KERNEL".to_owned(), "a b".to_owned())));
    assert!(variables.contains(&("WAVESIEVE_CAPTURE_COMPRESS".to_owned(), "zstd".to_owned())));
}

#[test]
fn the_library_is_next_to_the_program_or_where_packages_put_it() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("bin/wavesieve");
    let lib = folder.path().join("lib/wavesieve");
    std::fs::create_dir_all(&lib).unwrap();
    std::fs::create_dir_all(folder.path().join("bin")).unwrap();
    assert!(find_library(None, &program).unwrap_err().contains("cargo build -p wavesieve-capture"));
    std::fs::write(lib.join(LIBRARY), "").unwrap();
    assert_eq!(find_library(None, &program), Ok(lib.join(LIBRARY).canonicalize().unwrap()));
    assert!(find_library(Some(&folder.path().join("no")), &program).unwrap_err().contains("is not a file"));
}
