//! Recognizes traces of the PyTorch profiler, and the programs that wrote other Chrome traces.
//!
//! Members may come in any order, and thousands of names may stand before the first event that reveals the writer, so the first bytes often
//! do not suffice. A document is read member by member and event by event, until one of them decides.

use super::cursor::{Cursor, Quoted, Stop, members};
use super::document::EVENTS;
use super::event::Event;

/// Maximum bytes that are read before a document counts as written by another program.
pub const MAX_BYTES: u64 = 64 << 20;

/// The members of every event.
const PHASE: &[u8] = b"ph";
/// The member with the version, which few other programs write next to events.
const VERSION: &[u8] = b"schemaVersion";
/// Members that only the PyTorch profiler writes next to its events or version.
const MEMBERS: [&[u8]; 7] = [
    b"deviceProperties",
    b"distributedInfo",
    b"baseTimeNanoseconds",
    b"record_shapes",
    b"profile_memory",
    b"with_modules",
    b"hip_runtime_version",
];

/// Categories of events that only the PyTorch profiler writes.
const CATEGORIES: [&str; 17] = [
    "cpu_op",
    "python_function",
    "user_annotation",
    "cuda_runtime",
    "cuda_driver",
    "hip_runtime",
    "gpu_memcpy",
    "gpu_memset",
    "gpu_user_annotation",
    "cpu_instant_event",
    "ac2g",
    "xpu_runtime",
    "xpu_driver",
    "mtia_runtime",
    "mtia_ccp_events",
    "privateuse1_runtime",
    "hpu_op",
];
/// Categories that other programs write too: their events count with one of the [`ARGUMENTS`].
const SHARED_CATEGORIES: [&str; 6] = ["kernel", "operator", "runtime", "memcpy", "memset", "python function"];
/// Arguments by which the PyTorch profiler ties its events together.
const ARGUMENTS: [&[u8]; 5] = [b"External id", b"external id", b"correlation", b"Trace name", b"Python id"];
/// Arguments that together place work on a GPU.
const PLACE: [&[u8]; 2] = [b"device", b"stream"];
/// Start of the name of the event for the whole recording.
const RECORDING: &[u8] = b"PyTorch Profiler";

/// Marks in Chrome traces of other programs, and the names of these programs.
const OTHERS: &[(&str, &str)] = &[
    ("viztracer_metadata", "VizTracer"),
    ("/host:CPU", "JAX or TensorFlow (XLA)"),
    ("/device:GPU", "JAX or TensorFlow (XLA)"),
    ("\"BeginNs\"", "rocprof v1"),
    ("Total ExecuteCompiler", "clang -ftime-trace"),
    ("CrRendererMain", "Chrome"),
    ("CrBrowserMain", "Chrome"),
    ("navigationStart", "Chrome"),
    ("\"omnitrace", "Omnitrace"),
    ("rocprofiler-systems", "rocprof-sys"),
    ("\"triton", "Triton"),
    ("\"CPU functions\"", "the autograd profiler of PyTorch before 1.8"),
    ("\"model_loading_", "ONNX Runtime"),
    ("\"session_initialization\"", "ONNX Runtime"),
    ("_kernel_time\"", "ONNX Runtime"),
    ("SequentialExecutor::Execute", "ONNX Runtime"),
    ("\"Ascend Hardware\"", "Ascend (msprof)"),
    ("\"CANN\"", "Ascend (msprof)"),
    ("\"Overlap Analysis\"", "Ascend (msprof)"),
];

/// Texts that show accelerators, and the names of these accelerators.
type Accelerators = &'static [(&'static [&'static str], &'static str)];
/// Accelerators that are not AMD GPUs, by event categories that only they have.
pub(crate) const BY_CATEGORY: Accelerators = &[
    (&["xpu_runtime", "xpu_driver"], "an Intel GPU (XPU)"),
    (&["mtia_runtime", "mtia_ccp_events", "mtia_insight"], "an MTIA accelerator"),
    (&["hpu_op"], "an Intel Gaudi accelerator (HPU)"),
    (
        &["privateuse1_runtime", "privateuse1_driver"],
        "a device of a PyTorch plugin (PrivateUse1), such as an Ascend NPU",
    ),
    (&["glow_runtime"], "a Glow accelerator"),
];
/// Accelerators by the process names that plugins write for their devices.
pub(crate) const BY_PROCESS: Accelerators = &[(&["CANN", "Ascend Hardware"], "an Ascend NPU (torch_npu)")];

/// The accelerator that a text shows.
pub(crate) fn accelerator(all: Accelerators, text: &str) -> Option<&'static str> {
    all.iter().find(|(marks, _)| marks.contains(&text)).map(|(_, name)| *name)
}

/// A judgement by the first bytes of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Kineto,
    /// The whole text was read, and nothing in it shows the profiler.
    Other,
    /// The text ends before anything decides.
    Undecided,
}

/// Judges a document by its first bytes; `more` reads a given number of them. `is_whole` is true if `head` is the whole document.
pub fn recognize(head: &[u8], is_whole: bool, more: &dyn Fn(u64) -> Vec<u8>) -> Verdict {
    let mut verdict = judge(head, is_whole);
    let mut wanted = (head.len() as u64).saturating_mul(16);
    let mut is_whole = is_whole;
    while verdict == Verdict::Undecided && !is_whole && wanted / 16 < MAX_BYTES {
        wanted = wanted.min(MAX_BYTES);
        let text = more(wanted);
        is_whole = (text.len() as u64) < wanted;
        verdict = judge(&text, is_whole);
        wanted = wanted.saturating_mul(16);
    }
    verdict
}

/// Judges the start of a document, or all of it if `is_whole`.
fn judge(text: &[u8], is_whole: bool) -> Verdict {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let mut seen = Seen::default();
    match seen.read(text) {
        Ok(()) => seen.verdict(),
        Err(_) if seen.is_kineto => Verdict::Kineto,
        Err(Stop::Ends) if !is_whole => Verdict::Undecided,
        // Behind a damaged place, members and events are still recognized by their texts.
        Err(_) if has_traits(text) => Verdict::Kineto,
        Err(Stop::Ends) => seen.verdict(),
        Err(Stop::Malformed(_)) if is_whole => Verdict::Other,
        Err(Stop::Malformed(_)) => Verdict::Undecided,
    }
}

#[derive(Default)]
struct Seen {
    has_version: bool,
    has_events: bool,
    has_member: bool,
    is_kineto: bool,
}

impl Seen {
    fn verdict(&self) -> Verdict {
        let (version, events, member) = (self.has_version, self.has_events, self.has_member);
        let is_kineto = self.is_kineto || (version && (events || member)) || (events && member);
        if is_kineto { Verdict::Kineto } else { Verdict::Other }
    }

    /// Reads members until one decides.
    fn read(&mut self, text: &[u8]) -> Result<(), Stop> {
        let mut cursor = Cursor::lenient(text, 0);
        if cursor.take(b'[')? {
            return self.read_list(&mut cursor);
        }
        cursor.expect(b'{', "the document is not an object")?;
        if cursor.take(b'}')? {
            return Ok(());
        }
        loop {
            let key = cursor.key()?.raw;
            if key == EVENTS && cursor.take(b'[')? {
                self.read_events(&mut cursor)?;
            } else {
                // The text may end within the value.
                self.has_version |= key == VERSION;
                self.has_member |= MEMBERS.contains(&key);
                self.is_kineto = self.has_version && self.has_member;
                if !self.is_kineto {
                    cursor.value()?;
                }
            }
            if self.is_kineto {
                return Ok(());
            }
            if !cursor.take(b',')? {
                return cursor.expect(b'}', "a comma is missing");
            }
        }
    }

    /// Reads a document that is only a list of events.
    fn read_list(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        // Lists of other things are long too.
        let mut first = *cursor;
        if first.peek()? != b']' && Event::read(&mut first).map(|event| event.phase.is_empty()) == Ok(true) {
            return Ok(());
        }
        self.read_events(cursor)
    }

    /// Reads events until one decides, or the list ends.
    fn read_events(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        while !self.is_kineto {
            while cursor.take(b',')? {}
            if cursor.take(b']')? {
                return Ok(());
            }
            self.is_kineto = is_of_profiler(&Event::read(cursor)?);
            self.has_events = true;
        }
        Ok(())
    }
}

/// Whether only the PyTorch profiler writes such an event.
fn is_of_profiler(event: &Event<'_>) -> bool {
    let is_one_of = |names: &[&str]| names.iter().any(|name| event.category.eq_ignore_ascii_case(name.as_bytes()));
    if event.category.is_empty() {
        return false;
    }
    if event.category.eq_ignore_ascii_case(b"trace") {
        return event.name.raw.starts_with(RECORDING);
    }
    is_one_of(&CATEGORIES) || (is_one_of(&SHARED_CATEGORIES) && has_arguments(event))
}

fn has_arguments(event: &Event<'_>) -> bool {
    let has = |wanted: &[u8]| members(event.args).any(|(key, _): (Quoted<'_>, _)| key.raw == wanted);
    ARGUMENTS.iter().any(|wanted| has(wanted)) || PLACE.iter().all(|wanted| has(wanted))
}

/// Whether a text that cannot be parsed has members or categories of the profiler.
fn has_traits(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let is_list = text.trim_start().starts_with('[');
    if !is_list && !text.trim_start().starts_with('{') {
        return false;
    }
    let quoted = |name: &[u8]| text.contains(&format!("\"{}\"", String::from_utf8_lossy(name)));
    let has_category = |name: &&str| {
        text.match_indices(*name).any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default().strip_suffix('"').unwrap_or_default().trim_end();
            before.strip_suffix(':').is_some_and(|before| before.trim_end().ends_with("\"cat\""))
        })
    };
    let has_events = || quoted(EVENTS) && quoted(PHASE);
    (quoted(VERSION) && (has_events() || MEMBERS.iter().any(|member| quoted(member))))
        || ((is_list || quoted(EVENTS)) && CATEGORIES.iter().any(has_category))
}

/// The program that wrote another Chrome trace, by the start of its text.
pub(crate) fn other_program(text: &str) -> Option<&'static str> {
    OTHERS.iter().find(|(mark, _)| text.contains(mark)).map(|(_, program)| *program)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Judges a text. At first, only some of its bytes are known.
    fn judged(text: &str, first: usize) -> Verdict {
        let text = text.as_bytes();
        let more = |length: u64| text[..text.len().min(length as usize)].to_vec();
        let head = &text[..text.len().min(first)];
        recognize(head, head.len() < first, &more)
    }

    #[test]
    fn traces_of_pytorch_are_told_from_others() {
        for text in [
            r#"{"schemaVersion": 1, "deviceProperties": ["#,
            "\n{\n  \"schemaVersion\": 1, \"record_shapes\": 1,",
            r#"{"traceEvents": [{"ph": "X", "cat" : "cpu_op", "name": "aten::add"}"#,
            r#"{"traceEvents":[{"ph":"X","cat":"python_function"}"#,
            "\u{feff}{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"M\"}]}",
            r#"{"traceEvents": [{"ph": "M"}], "schemaVersion": 1}"#,
            r#"{"traceEvents": [{"ph": "M"}], "baseTimeNanoseconds": 5}"#,
            r#"{"traceEvents": [{"ph": "X", "cat": "Kernel", "args": {"device": 0, "stream": 7}}]}"#,
            r#"{"traceEvents": [{"ph": "X", "cat": "kernel", "args": {"bytes": N/A, "correlation": 7}}]}"#,
            r#"{"traceEvents": [{"ph": "X", "cat": "Operator", "args": {"Trace name": "PyTorch Profiler"}}]}"#,
            r#"{"traceEvents": [{"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)"}]}"#,
            r#"{"traceEvents": [{"ph": "X", "cat": "gpu_memset"}, {"ph": "X"#,
            r#"{"traceName": "C:\Users\x", "traceEvents": [{"ph": "X", "cat": "cuda_driver"}]}"#,
            r#"{"a": [1}, "traceEvents": [{"ph": "X", "cat": "cpu_op"}]}"#,
            r#"[{"ph": "X", "cat": "cpu_op"}]"#,
            "\u{feff}[\n{\"ph\": \"M\", \"name\": \"x\"},\n{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\"}",
            r#"[{"ph": "M"}, {"ph": "X", "cat": "kernel", "args": {"device": 0, "stream": 7}}, {"ph"#,
        ] {
            for first in [4, 16, 100, 4096] {
                assert_eq!(judged(text, first), Verdict::Kineto, "{first} {text}");
            }
        }
        for (text, program) in [
            (r#"{"traceEvents": [{"ph": "M", "args": {"name": "/host:CPU"}}]}"#, Some("JAX or TensorFlow (XLA)")),
            (r#"{"traceEvents": [{"ph": "X", "cat": "function", "name": "cpu_op"}]}"#, None),
            (r#"{"traceEvents": [{"ph": "X", "cat": "kernel", "args": {"call_stack": []}}]}"#, None),
            (r#"{"traceEvents": [{"ph": "B", "cat": "operator", "name": "dot"}]}"#, None),
            (r#"{"traceEvents": [{"name": "Trace", "cat": "trace"}]}"#, None),
            (r#"{"schemaVersion": 1, "panels": []}"#, None),
            (r#"{"schemaVersion": 1, "traceEvents": []}"#, None),
            (r#"{"events": {"traceEvents": [{"cat": "cpu_op"}]}}"#, None),
            (r#"[{"ph": "X", "cat": "function", "name": "cpu_op"}]"#, None),
            (r#"[{"cat": "cpu_op"}, {"ph": "X", "cat": "cpu_op"}]"#, None),
            (r#"[1, 2]"#, None),
            (r#"[{"cat" : "Session","ph" : "X","name" :"model_loading_array","args" : {}}]"#, Some("ONNX Runtime")),
            (r#"[{"cat" : "Node","ph" : "X","name" :"MatMul_kernel_time","args" : {}}]"#, Some("ONNX Runtime")),
            (r#"[{"ph": "M", "name": "process_name", "args": {"name": "CANN"}}]"#, Some("Ascend (msprof)")),
        ] {
            assert_eq!(judged(text, 4096), Verdict::Other, "{text}");
            assert_eq!(judged(text, 8), Verdict::Other, "{text}");
            assert_eq!(other_program(text), program, "{text}");
        }
    }

    #[test]
    fn documents_are_read_on_within_a_limit() {
        let names = r#"{"ph": "M", "name": "thread_name", "args": {"name": "thread"}}, "#.repeat(20_000);
        let text = format!(r#"{{"traceEvents": [{names}{{"ph": "X", "cat": "cpu_op"}}]}}"#);
        assert_eq!(judged(&text, 4096), Verdict::Kineto);
        let blanks = |length: u64| {
            assert!(length <= MAX_BYTES);
            let mut text = b"{\"a\": \"".to_vec();
            text.resize(length as usize, b'x');
            text
        };
        assert_eq!(recognize(&blanks(4096), false, &blanks), Verdict::Undecided);
    }
}
