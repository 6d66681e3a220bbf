//! Input for a profiler that collects passes: command lines, job files, definitions of accumulations.

use std::fmt::Write as _;

use crate::analysis::counter_plan::counter_passes::Pass;

/// Options for the collection of passes.
#[derive(Clone, Debug)]
pub struct Collection {
    /// Directory that gets a folder `pass_N` for each.
    pub directory: String,
    /// File of definitions; `None` if nothing must be defined.
    pub definitions: Option<String>,
    /// The program and its arguments.
    pub program: Vec<String>,
}

/// The words of the rocprofv3 command for a pass, which is counted from 1.
pub fn pass_command(pass: &Pass, number: usize, collection: &Collection) -> Vec<String> {
    let mut words: Vec<String> = vec!["rocprofv3".to_owned(), "--pmc".to_owned()];
    words.extend(pass.names().into_iter().map(ToOwned::to_owned));
    if let Some(file) = collection.definitions.as_ref().filter(|_| accumulates(pass)) {
        words.extend(["-E".to_owned(), file.clone()]);
    }
    let directory = format!("{}/pass_{number}", collection.directory.trim_end_matches('/'));
    words.extend(["--output-format", "rocpd", "-d"].map(ToOwned::to_owned));
    words.extend([directory, "--".to_owned()]);
    words.extend(collection.program.iter().cloned());
    words
}

/// The words of the rocprofv3 command for all passes of a job file `jobs.yaml`.
pub fn job_command(collection: &Collection) -> Vec<String> {
    let options = ["rocprofv3", "-i", "jobs.yaml", "--output-format", "rocpd", "-d", &collection.directory, "--"];
    options.into_iter().map(ToOwned::to_owned).chain(collection.program.iter().cloned()).collect()
}

/// A job file for `rocprofv3 -i` in YAML, which writes the passes to folders `pass_N` itself.
pub fn yaml_jobs(passes: &[Pass], definitions: Option<&str>) -> String {
    let mut text = "jobs:\n".to_owned();
    for pass in passes {
        // A list of names of counters, which need no quotes.
        let _ = writeln!(text, "  - pmc: [{}]", pass.names().join(", "));
        if let Some(file) = definitions.filter(|_| accumulates(pass)) {
            let _ = writeln!(text, "    extra_counters: {}", yaml_text(file));
        }
    }
    text
}

/// A job file with a `pmc:` line per pass.
pub fn pmc_lines(passes: &[Pass]) -> String {
    passes.iter().map(|pass| format!("pmc: {}\n", pass.names().join(" "))).collect()
}

/// Definitions that `rocprofv3 -E` needs to accumulate the counters of passes; `None` if they need none.
pub fn accumulation_definitions(passes: &[Pass], architecture: &str) -> Option<String> {
    let items = passes.iter().flat_map(|pass| &pass.items);
    let levels: std::collections::BTreeSet<&String> = items.flat_map(defined).collect();
    if levels.is_empty() {
        return None;
    }
    let mut text = "rocprofiler-sdk:\n  counters-schema-version: 1\n  counters:\n".to_owned();
    for level in levels {
        let _ = writeln!(text, "    - name: {level}_ACCUM");
        let _ = writeln!(text, "      description: {level} added up every cycle");
        let _ = writeln!(text, "      properties: []\n      definitions:");
        let _ = writeln!(text, "        - architectures: [{architecture}]");
        let _ = writeln!(text, "          expression: accumulate({level},HIGH_RES)");
    }
    Some(text)
}

fn accumulates(pass: &Pass) -> bool {
    pass.items.iter().any(|item| defined(item).next().is_some())
}

/// The counters of an item whose accumulation is requested by a name that needs a definition.
fn defined(item: &crate::analysis::counter_plan::counter_passes::Item) -> impl Iterator<Item = &String> {
    item.accumulates
        .iter()
        .filter(|level| item.names.iter().any(|name| name.strip_suffix("_ACCUM") == Some(level.as_str())))
}

/// A text in double quotes, which YAML reads as JSON does.
fn yaml_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
