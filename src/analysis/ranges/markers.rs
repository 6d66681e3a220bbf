//! Which records of the domain `marker` are ranges of the program.

/// Names of operations that open a range of the whole process, which may end on another thread: by rocprofv3, and by the
/// call that started it.
const OF_PROCESS: [&str; 2] = ["roctxProcessRange", "roctxRangeStart"];

/// Names of calls that are no range: they end one, name something, or stop and start the profiler.
const NO_RANGE: [&str; 6] =
    ["roctxRangePop", "roctxRangeStop", "roctxMark", "roctxName", "roctxProfiler", "roctxGetThreadId"];

/// Categories of such calls, where the name is the text of the record.
const NO_RANGE_CATEGORIES: [&str; 2] = ["MARKER_CONTROL", "MARKER_NAME"];

/// Whether an operation of that name opens a range of the whole process.
pub(crate) fn is_process_range(name: &str) -> bool {
    OF_PROCESS.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a record of that name and of the domain `marker` is a range.
pub(crate) fn is_range(name: &str) -> bool {
    !NO_RANGE.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether records of that category are ranges.
pub(crate) fn is_range_category(category: &str) -> bool {
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
            ("UserMarker", false, false),
        ] {
            assert_eq!((is_process_range(name), is_range(name)), (of_process, !no_range), "{name}");
        }
        assert!(!is_range_category("MARKER_CONTROL_API") && is_range_category("MARKER_CORE_RANGE_API"));
    }
}
