//! Twenty answers with planted errors: what the comparison finds, misses, and marks for nothing.

use super::privacy::analysis;
use crate::engine::Registry;
use crate::llm::grounding::Grounding;
use crate::report::document::Document;

/// A figure as the document shows it.
fn shown(document: &Document, id: &str) -> String {
    document.figures.iter().find(|figure| figure.id == id).unwrap().shown()
}

/// Answers, each with what in it is wrong. What is in braces is a figure of the document.
const ANSWERS: [(&str, &[&str]); 20] = [
    ("The GPUs are busy {busy_pct} of the time and idle {idle_pct}.", &[]),
    ("The GPUs are busy 99.7% of the time.", &["99.7%"]),
    ("All {ranks} ranks took part, on {gpus} GPUs.", &[]),
    ("All 512 ranks took part.", &["512"]),
    ("There are 77 GPUs in this run.", &["77"]),
    ("The run took {span_ns}, of which 123.45 ms were lost.", &["123.45 ms"]),
    ("Exposed communication is {exposed_comm_pct}; exposed copies are {exposed_copy_pct}.", &[]),
    ("Fixing it would make the run 17x faster.", &["17x"]),
    ("The kernel `super_fast_gemm_kernel` dominates.", &["super_fast_gemm_kernel"]),
    ("See table `time_breakdown` and finding `collective_wait`.", &[]),
    ("See table `time_breakdowns_by_moon`.", &["time_breakdowns_by_moon"]),
    ("Run `rocprofv3 --kernel-trace --hip-trace --memory-copy-trace -d out -- APP` next.", &[]),
    ("Run `rocprofv3 --trace-everything -- APP` next.", &["rocprofv3 --trace-everything -- APP"]),
    ("Run `rocprof --stats APP` next.", &["rocprof --stats APP"]),
    ("Collect SQ_WAVES and GRBM_GUI_ACTIVE; call hipStreamSynchronize less often.", &[]),
    ("Collect SQ_MAGIC_UNICORNS for it.", &["SQ_MAGIC_UNICORNS"]),
    ("1. First, overlap communication.\n2. Then fuse the 3 suggestions above.", &[]),
    ("Bandwidth reaches 8123.4 GB/s, far above 4096 GiB.", &["8123.4 GB/s", "4096 GiB"]),
    ("{kernels} kernels were launched {dispatches} times; rank 87 is late.", &["87"]),
    ("It is idle for {idle_pct}, i.e. {idle_pct} of GPU time, not 3.21%.", &["3.21%"]),
];

#[test]
fn planted_errors_are_found() {
    let analysis = analysis("two_nodes");
    let document = &analysis.document;
    let registry = Registry::builtin().unwrap();
    let grounding = Grounding::new(document, &registry, &|_| None);
    let (mut found, mut missed, mut false_alarms) = (0, Vec::new(), Vec::new());
    for (answer, wrong) in ANSWERS {
        let mut text = answer.to_owned();
        for id in [
            "busy_pct",
            "idle_pct",
            "ranks",
            "gpus",
            "span_ns",
            "exposed_comm_pct",
            "exposed_copy_pct",
            "kernels",
            "dispatches",
        ] {
            if text.contains(&format!("{{{id}}}")) {
                text = text.replace(&format!("{{{id}}}"), &shown(document, id));
            }
        }
        let paragraphs: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
        let checked = grounding.check(&paragraphs);
        for flaw in wrong {
            match checked.missing.iter().any(|missing| missing.contains(flaw)) {
                true => found += 1,
                false => missed.push(*flaw),
            }
        }
        let is_planted = |missing: &&String| wrong.iter().any(|flaw| missing.contains(flaw));
        false_alarms.extend(
            checked.missing.iter().filter(|missing| !is_planted(missing)).map(|missing| (answer, missing.clone())),
        );
        assert_eq!(checked.paragraphs.join("\n").matches(" [?]").count() > 0, !checked.missing.is_empty(), "{text}");
    }
    assert_eq!((found, missed.as_slice(), false_alarms.as_slice()), (14, &[][..], &[][..]));
}

#[test]
fn what_the_document_says_is_grounded_in_it() {
    for fixture in ["two_nodes", "planted"] {
        let analysis = analysis(fixture);
        let document = &analysis.document;
        let registry = Registry::builtin().unwrap();
        let grounding = Grounding::new(document, &registry, &|_| None);
        let texts = document.findings.iter().flat_map(|finding| [finding.title.clone(), finding.explanation.clone()]);
        let texts: Vec<String> = texts.chain(document.views.all().iter().map(|view| view.line())).collect();
        assert_eq!(grounding.check(&texts).missing, Vec::<String>::new(), "{fixture}");
    }
}
