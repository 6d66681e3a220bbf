//! Blocks of a file that a disk or a file system lost, so that they are zeros: whatever text they were in, it is damaged.

use std::fs;

use crate::cases::every;
use crate::common::{run, succeed};
use crate::kineto_forms::trace_of_operators;
use crate::rocprofv3_documents::{document, process};

/// Bytes of a block that is lost; those of file systems are larger, and so are traces.
const BLOCKS: [usize; 2] = [256, 1024];

/// Rows of CSV as rocprofv3 writes them.
pub fn csv() -> String {
    let mut text = "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\
                    \"Start_Timestamp\",\"End_Timestamp\"\n"
        .to_owned();
    for id in 1..=40 {
        let start = 1_000_000 + id * 1_000;
        text += &format!("\"KERNEL_DISPATCH\",\"Agent 4\",1,7,{id},9,\"scale\",{id},{start},{}\n", start + 500);
    }
    text
}

/// A listing of a thread trace.
pub fn listing() -> String {
    let mut text = "CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n".to_owned();
    for line in 0..40 {
        text += &format!("1,{},\"v_add_f32 v{line}, v1, v2\",10,400,{line},5,app.cpp:{line}\n", 4096 + 8 * line);
    }
    text
}

/// A timeline for Perfetto.
pub fn perfetto() -> Vec<u8> {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.pftrace");
    succeed(&[
        "convert",
        "fixtures/two_nodes/node0/4100_results.db",
        "--to",
        "pftrace",
        "-o",
        path.to_str().unwrap(),
        "-q",
    ]);
    fs::read(path).unwrap()
}

#[test]
fn zeros_in_the_place_of_a_block_are_damage() {
    let texts = [
        ("trace.pt.trace.json", trace_of_operators().into_bytes()),
        ("7_results.json", document(&[process(7)]).to_string().into_bytes()),
        ("7_kernel_trace.csv", csv().into_bytes()),
        ("stats_ui_output_agent_1_dispatch_1.csv", listing().into_bytes()),
        ("trace.pftrace", perfetto()),
    ];
    for (name, text) in &texts {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(name);
        fs::write(&path, text).unwrap();
        let input = path.to_str().unwrap();
        let whole = run(&["check", "-q", input]);
        assert!(!whole.stderr.contains("damaged"), "{name}: {}", whole.stderr);
        for block in BLOCKS {
            for start in every(2, (0..text.len()).step_by(block)) {
                let mut content = text.clone();
                let end = (start + block).min(content.len());
                content[start..end].fill(0);
                fs::write(&path, &content).unwrap();
                let found = run(&["check", "-q", input]);
                // The lost beginning may be all that shows which program wrote the file.
                let is_noticed = found.code == 5 || (start == 0 && found.code == 3);
                assert!(is_noticed, "{name}, {start}..{end}: {} {}", found.code, found.stderr);
            }
        }
    }
}

#[test]
fn a_quote_in_the_last_field_that_is_not_closed_is_damage() {
    let quoted = |line: &str| match line.split_once(",app.cpp") {
        Some((row, place)) => format!("{row},\"app.cpp{place}\"\n"),
        None => format!("{line}\n"),
    };
    let text: String = listing().lines().map(quoted).collect();
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("stats_ui_output_agent_1_dispatch_1.csv");
    fs::write(&path, &text).unwrap();
    assert_ne!(run(&["check", "-q", path.to_str().unwrap()]).code, 5, "whole");
    for (at, _) in every(5, text.match_indices("\"\n")) {
        let (before, behind) = text.split_at(at);
        fs::write(&path, [before, behind.strip_prefix('"').unwrap()].concat()).unwrap();
        let found = run(&["check", "-q", path.to_str().unwrap()]);
        assert_eq!(found.code, 5, "without the quote at {at}: {}", found.stderr);
    }
}

#[test]
fn rows_that_an_early_end_cut_are_damage() {
    for (name, text) in [("7_kernel_trace.csv", csv()), ("stats_ui_output_agent_1_dispatch_1.csv", listing())] {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(name);
        let last = text.trim_end().rfind('\n').unwrap() + 1;
        for end in last + 1..=text.len() {
            fs::write(&path, &text.as_bytes()[..end]).unwrap();
            let found = run(&["check", "-q", path.to_str().unwrap()]);
            // A line end alone may be missing; the source is a text, whose end is unknown.
            let is_whole = end + 1 >= text.len() || (name.starts_with("stats") && end > text.rfind(',').unwrap());
            assert!(found.code == 5 || is_whole, "{name}, {end} of {}: {} {}", text.len(), found.code, found.stderr);
            assert!(found.code == 0 || end + 1 < text.len(), "{name}: {}", found.stderr);
        }
    }
}
