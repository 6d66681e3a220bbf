//! The capture request, as environment variables of the program.

use std::path::{Path, PathBuf};

use wavesieve_captures::recording::VARIABLE_PREFIX;

/// The dispatches to capture, and how to store them.
#[derive(Debug, Clone)]
pub struct CaptureRequest {
    pub kernel: String,
    /// A list such as `0,2,5-7`.
    pub dispatches: String,
    pub output: PathBuf,
    pub is_reachable_only: bool,
    pub is_compressed: bool,
    /// Maximum number of captures.
    pub limit: u64,
    /// Seconds that queues may take to become idle.
    pub wait_seconds: u64,
    pub threads: Option<u64>,
}

impl CaptureRequest {
    /// Variables to set for the program. Other tools that it loads are kept.
    pub fn variables(&self, library: &Path, other_tools: Option<&str>) -> Vec<(String, String)> {
        let own = library.to_string_lossy();
        let tools = match other_tools.map(str::trim).filter(|tools| !tools.is_empty()) {
            Some(tools) => format!("{tools} {own}"),
            None => own.into_owned(),
        };
        let flag = |is_set: bool| if is_set { "1" } else { "0" }.to_owned();
        let mut values = vec![
            ("KERNEL", self.kernel.clone()),
            ("DISPATCH", self.dispatches.clone()),
            ("OUTPUT", self.output.to_string_lossy().into_owned()),
            ("REACHABLE", flag(self.is_reachable_only)),
            ("COMPRESS", if self.is_compressed { "zstd" } else { "none" }.to_owned()),
            ("LIMIT", self.limit.to_string()),
            ("WAIT", self.wait_seconds.to_string()),
        ];
        values.extend(self.threads.map(|threads| ("THREADS", threads.to_string())));
        let named = values.into_iter().map(|(name, value)| (format!("{VARIABLE_PREFIX}{name}"), value));
        // The runtime reports a library that it cannot load only if this variable is set.
        let own = [("HSA_TOOLS_LIB", tools), ("HSA_TOOLS_REPORT_LOAD_FAILURE", "1".to_owned())];
        own.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(named).collect()
    }
}
