//! A source scan in the form that is sent before there is a trace: kernels and files are tokens unless names are
//! allowed.

use serde_json::{Value, json};

use super::cells::masked;
use super::known::add_name;
use super::level::Share;
use crate::llm::redaction::TokenMap;
use wavesieve_source::scan::{DetectedPattern, SourceScan};

const MOST_KERNELS: usize = 10;
/// Maximum number of sent patterns, the most severe first.
const MOST_PATTERNS: usize = 30;
/// Maximum number of sent places per pattern.
const MOST_PLACES: usize = 3;

/// Makes the names of kernels and files known, so that they are found anywhere, for example in a question.
pub(crate) fn names_of_scan(scan: &SourceScan, names: &mut TokenMap) {
    for kernel in &scan.detected_kernels {
        add_name(&kernel.name, "KERNEL", names);
    }
    let places = scan.detected_patterns.iter().flat_map(|pattern| &pattern.locations).map(|place| file_of(place));
    let mut files: Vec<&str> = scan.detected_kernels.iter().map(|kernel| kernel.file.as_str()).chain(places).collect();
    files.sort_unstable();
    files.dedup();
    for file in files {
        names.name("FILE", file);
    }
}

/// The findings of a scan, without its code.
pub fn scan(scan: &SourceScan, share: Share, names: &mut TokenMap) -> Value {
    let is_masked = share == Share::Figures;
    let mut named = |kind: &str, name: &str| if is_masked { masked(name, kind, names) } else { name.to_owned() };
    let kernels: Vec<Value> = scan
        .detected_kernels
        .iter()
        .take(MOST_KERNELS)
        .map(|kernel| {
            json!({
                "name": named("KERNEL", &kernel.name),
                "file": named("FILE", &kernel.file),
                "line": kernel.line,
                "launch_type": kernel.launch_type,
                "definitions": kernel.definition_count,
                "launches": kernel.launch_count,
                "launched_in_loop": kernel.launched_in_loop,
            })
        })
        .collect();
    let mut pattern = |pattern: &DetectedPattern| {
        let place = |place: &String| {
            let file = file_of(place);
            format!("{}{}", named("FILE", file), place.get(file.len()..).unwrap_or_default())
        };
        let places: Vec<String> = pattern.locations.iter().take(MOST_PLACES).map(place).collect();
        json!({
            "id": pattern.pattern_id,
            "severity": format!("{:?}", pattern.severity).to_lowercase(),
            "category": pattern.category,
            "description": pattern.description,
            "count": pattern.count,
            "in_loops": pattern.in_loops,
            "places": places,
        })
    };
    let patterns: Vec<Value> = scan.detected_patterns.iter().take(MOST_PATTERNS).map(&mut pattern).collect();
    json!({
        "model": scan.programming_model,
        "files": scan.files_scanned,
        "kernel_count": scan.kernel_count,
        "kernels": kernels,
        "patterns": patterns,
        "risks": scan.risk_areas,
        "has_markers": scan.already_instrumented,
        "counters": scan.suggested_counters,
    })
}

/// The file in a place such as `a/b.hip:12`.
fn file_of(place: &str) -> &str {
    place.rsplit_once(':').map_or(place, |(file, _)| file)
}
