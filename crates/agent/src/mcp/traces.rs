//! Traces that stay open between calls.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use walkdir::WalkDir;
use xxhash_rust::xxh3::Xxh3;

use super::McpOptions;
use super::failure::ToolFailure;
use super::paths::Roots;
use wavesieve_input::{LoadOptions, load};
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::selection::Filters;

/// Maximum number of open traces; they hold indexes of their files and some tables.
const KEPT: usize = 4;

/// The effective filters of a call, and what hides names from the model that wrote them.
pub(super) struct Asked {
    pub filters: Filters,
    /// The mask for filters that compare texts.
    pub mask: Option<u64>,
    /// The model does not see the names of inputs.
    pub hides_inputs: bool,
}

/// The inputs and options that identify a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    inputs: Vec<String>,
    filters: Vec<String>,
    /// The mask for filters that compare texts.
    mask: Option<u64>,
    hides_inputs: bool,
    /// The table that a condition applies to.
    subject: Option<&'static str>,
    /// Names, sizes and times of the files.
    state: u64,
}

/// Open traces, the last used one at the end.
#[derive(Default)]
pub(super) struct Traces {
    kept: VecDeque<(Key, Arc<Trace>)>,
}

impl Traces {
    /// The trace of these inputs with these filters. An open trace is reused if its files are unchanged.
    pub(super) fn open(
        &mut self,
        inputs: &[String],
        asked: Asked,
        subject: Option<&'static str>,
        roots: &Roots,
        options: &McpOptions,
    ) -> Result<Arc<Trace>, ToolFailure> {
        let (inputs_of_key, state) = (inputs.to_vec(), state_of(inputs));
        let Asked { filters, mask, hides_inputs } = asked;
        let key = Key { inputs: inputs_of_key, filters: filters.command_line(), mask, hides_inputs, subject, state };
        // A damaged trace is read again, so that an answer does not depend on earlier ones.
        let same = |(known, trace): &(Key, Arc<Trace>)| *known == key && trace.damage().is_empty();
        if let Some(found) = self.kept.iter().position(same).and_then(|at| self.kept.remove(at)) {
            let trace = Arc::clone(&found.1);
            self.kept.push_back(found);
            return Ok(trace);
        }
        let load_options = LoadOptions { threads: options.threads, jobs: options.jobs, ..LoadOptions::builtin() };
        let trace = load(inputs, load_options)?.select(filters)?;
        roots.check_files(
            trace.members().iter().flat_map(|member| member.files.iter().map(std::path::PathBuf::as_path)),
        )?;
        let trace = Arc::new(if hides_inputs { trace.named(Vec::new()) } else { trace });
        self.kept.retain(|(known, _)| known.inputs != key.inputs || known.state == key.state);
        self.kept.push_back((key, Arc::clone(&trace)));
        while self.kept.len() > KEPT {
            self.kept.pop_front();
        }
        Ok(trace)
    }

    pub(super) fn clear(&mut self) {
        self.kept.clear();
    }
}

/// A number that changes with the input files.
fn state_of(inputs: &[String]) -> u64 {
    let mut hash = Xxh3::new();
    for input in inputs {
        let entries = WalkDir::new(Path::new(input)).follow_links(true).sort_by_file_name();
        for entry in entries.into_iter().filter_map(Result::ok) {
            let Ok(metadata) = entry.metadata() else { continue };
            let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            hash.update(entry.path().as_os_str().as_encoded_bytes());
            hash.update(&metadata.len().to_le_bytes());
            hash.update(&modified.map_or(0, |time| time.as_nanos()).to_le_bytes());
        }
    }
    hash.digest()
}
