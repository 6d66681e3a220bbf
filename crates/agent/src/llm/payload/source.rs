//! Source code in the form that is sent: the kernels from a scan, with their code.

use std::path::Path;

use serde_json::{Value, json};

use wavesieve_files::regular::{self, SMALL_BYTES};
use wavesieve_source::scan::{DetectedKernel, SourceScan};

/// Maximum number of kernels with code.
const MOST_KERNELS: usize = 8;
const MOST_LINES: usize = 60;
const LONGEST_LINE: usize = 300;

/// The findings of a scan, and the code of the first kernels.
pub fn source(scan: &SourceScan) -> Value {
    let defined = scan.detected_kernels.iter().filter(|kernel| kernel.definition_count > 0);
    let kernels: Vec<Value> = defined
        .take(MOST_KERNELS)
        .filter_map(|kernel| {
            let code = code(Path::new(&scan.source_dir), kernel)?;
            Some(json!({ "name": kernel.name, "file": kernel.file, "line": kernel.line, "code": code }))
        })
        .collect();
    json!({ "model": scan.programming_model, "risks": scan.risk_areas, "kernels": kernels })
}

/// The lines from the start of the definition.
fn code(directory: &Path, kernel: &DetectedKernel) -> Option<String> {
    let bytes = regular::read(&directory.join(&kernel.file), SMALL_BYTES).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let first = usize::try_from(kernel.line).ok()?.saturating_sub(2);
    let lines = text.lines().skip(first).take(MOST_LINES);
    let lines: Vec<String> = lines.map(|line| line.chars().take(LONGEST_LINE).collect()).collect();
    Some(lines.join("\n"))
}
