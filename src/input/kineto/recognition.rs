//! Which Chrome traces are of the PyTorch profiler, and whose others are, by the first bytes of a file.

/// Members that the PyTorch profiler writes before its events.
const MEMBERS: [&str; 4] =
    ["\"deviceProperties\"", "\"distributedInfo\"", "\"baseTimeNanoseconds\"", "\"record_shapes\""];

/// Categories of events that only the PyTorch profiler writes together with phases.
const CATEGORIES: [&str; 7] =
    ["cpu_op", "python_function", "user_annotation", "cuda_runtime", "gpu_memcpy", "gpu_user_annotation", "ac2g"];

/// Marks in Chrome traces of other programs, and what wrote them.
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
];

/// Whether a text starts as a trace of the PyTorch profiler does.
pub(crate) fn is_kineto(text: &str) -> bool {
    let is_object = text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
    let has_version = || text.contains("\"schemaVersion\"");
    let has_events = || text.contains("\"traceEvents\"");
    let of_category = |name: &&str| {
        text.match_indices(*name).any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default().strip_suffix('"').unwrap_or_default().trim_end();
            before.strip_suffix(':').is_some_and(|before| before.trim_end().ends_with("\"cat\""))
        })
    };
    is_object
        && ((has_version() && MEMBERS.iter().any(|member| text.contains(member)))
            || (has_events() && CATEGORIES.iter().any(of_category)))
}

/// What wrote a text that starts as another Chrome trace does.
pub(crate) fn other_program(text: &str) -> Option<&'static str> {
    OTHERS.iter().find(|(mark, _)| text.contains(mark)).map(|(_, program)| *program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_of_pytorch_are_told_from_others() {
        for text in [
            r#"{"schemaVersion": 1, "deviceProperties": ["#,
            "\n{\n  \"schemaVersion\": 1, \"record_shapes\": 1,",
            r#"{"traceEvents": [{"ph": "X", "cat" : "cpu_op", "name": "aten::add""#,
            r#"{"traceEvents":[{"ph":"X","cat":"python_function""#,
        ] {
            assert!(is_kineto(text), "{text}");
        }
        for (text, program) in [
            (r#"{"traceEvents": [{"ph": "M", "args": {"name": "/host:CPU"}}]}"#, Some("JAX or TensorFlow (XLA)")),
            (r#"{"traceEvents": [{"ph": "X", "cat": "function", "name": "cpu_op"}]}"#, None),
            (r#"{"schemaVersion": 1, "traceEvents": []}"#, None),
            (r#"[{"ph": "X", "cat": "cpu_op"}]"#, None),
        ] {
            assert!(!is_kineto(text), "{text}");
            assert_eq!(other_program(text), program, "{text}");
        }
    }
}
