//! Records of the domain `marker` that are ranges of the program.

/// Names of operations that open a range of the whole process, which may end on another thread: rocprofv3's name, and
/// the name of the call that starts it.
const OF_PROCESS: [&str; 2] = ["roctxProcessRange", "roctxRangeStart"];

/// Names of calls that are not ranges: they end a range, name something, or stop and start the profiler.
const NO_RANGE: [&str; 6] =
    ["roctxRangePop", "roctxRangeStop", "roctxMark", "roctxName", "roctxProfiler", "roctxGetThreadId"];

/// Categories of such calls, for records whose name is the text.
const NO_RANGE_CATEGORIES: [&str; 2] = ["MARKER_CONTROL", "MARKER_NAME"];

/// rocprofv3's operation for a range that is pushed and popped.
pub const THREAD_RANGE: &str = "roctxThreadRangeA";
/// rocprofv3's operation for a range that is started and stopped.
pub const PROCESS_RANGE: &str = "roctxProcessRangeA";

/// Names of other operations.
const OTHERS: [&str; 2] = ["roctxThreadRange", "roctxRangePush"];

/// Whether a name is an operation that starts with `prefix`. Texts of markers may also start so, such as
/// `roctxMark-test`.
fn is_of(name: &str, prefix: &str) -> bool {
    let rest = name.strip_prefix(prefix);
    rest.is_some_and(|rest| {
        !rest.starts_with(|first: char| first.is_ascii_lowercase())
            && rest.bytes().all(|byte| byte.is_ascii_alphabetic())
    })
}

/// Whether a name is an operation of ROCTx, not a text.
pub fn is_operation(name: &str) -> bool {
    OF_PROCESS.iter().chain(&NO_RANGE).chain(&OTHERS).any(|prefix| is_of(name, prefix))
}

/// Whether an operation with this name opens a range of the whole process.
pub fn is_process_range(name: &str) -> bool {
    OF_PROCESS.iter().any(|prefix| is_of(name, prefix))
}

/// Whether a record with this name, of the domain `marker`, is a range.
pub fn is_range(name: &str) -> bool {
    !NO_RANGE.iter().any(|prefix| is_of(name, prefix))
}

/// Whether records of this category are ranges.
pub fn is_range_category(category: &str) -> bool {
    let category = category.to_ascii_uppercase();
    !NO_RANGE_CATEGORIES.iter().any(|part| category.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_other_marker_calls() {
        for (name, of_process, no_range) in [
            ("roctxThreadRangeA", false, false),
            ("roctxRangePushA", false, false),
            ("roctxRangePop", false, true),
            ("roctxProcessRangeA", true, false),
            ("roctxRangeStartA", true, false),
            ("roctxRangeStop", false, true),
            ("roctxProfilerPause", false, true),
            ("roctxNameOsThread", false, true),
            ("roctxNameOsThreadA", false, true),
            ("UserMarker", false, false),
            ("roctxMark-test", false, false),
            ("roctxMarker 5", false, false),
            ("roctxRangePop of the loop", false, false),
            ("roctxProcessRange_3", false, false),
        ] {
            assert_eq!((is_process_range(name), is_range(name)), (of_process, !no_range), "{name}");
        }
        for name in ["roctxThreadRangeA", "roctxRangePushEx", "roctxMarkA", "roctxProfilerResume"] {
            assert!(is_operation(name), "{name}");
        }
        for name in ["roctxMark-test", "roctxThreadRange 7", "phase", "roctxRangepush"] {
            assert!(!is_operation(name), "{name}");
        }
        assert!(!is_range_category("MARKER_CONTROL_API") && is_range_category("MARKER_CORE_RANGE_API"));
    }
}
