//! `scan`: reports the GPU work of source code before there is a trace.

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Toolbox, begin, command_line};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::arguments::parsed;
use crate::mcp::failure::{Exit, ToolFailure};
use wavesieve_model::analysis::counter_plan::{CounterBlocks, RocmVersion};
use wavesieve_report::json;
use wavesieve_report::source_document::source_document;
use wavesieve_source::scan::{DEFAULT_ARCHITECTURE, Limits, Target, refusal, scan, shown};

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Arguments {
    path: String,
    arch: Option<String>,
    rocm_version: Option<RocmVersion>,
    program: Vec<String>,
    rows: Option<usize>,
}

pub(super) fn call(tools: &mut Toolbox<'_>, arguments: Map<String, Value>) -> Result<ToolAnswer, ToolFailure> {
    let arguments: Arguments = parsed(arguments)?;
    let rows = tools.rows(arguments.rows);
    let path = tools.roots.existing(&arguments.path)?;
    let named = path.display().to_string();
    if let Some(problem) = refusal(&path) {
        return Err(ToolFailure::usage(format!("{named} {problem}")));
    }
    let arch = arguments.arch.as_deref().unwrap_or(DEFAULT_ARCHITECTURE);
    let architecture = arch.trim().split(':').next().unwrap_or_default().to_lowercase();
    let blocks = CounterBlocks::builtin().for_architecture(&architecture, &Default::default());
    blocks.map_err(|error| ToolFailure::usage(error.to_string().replace("; pass --block-limit", "")))?;
    let target = Target { architecture, program: arguments.program.clone(), rocm: arguments.rocm_version };
    let tree = scan(&path, Limits::default(), &target, &()).with_context(|| format!("cannot read {named}"))?;
    let mut words = vec!["--arch".to_owned(), arch.to_owned()];
    words.extend(arguments.rocm_version.iter().flat_map(|rocm| ["--rocm-version".to_owned(), rocm.to_string()]));
    if !arguments.program.is_empty() {
        words.push("--".to_owned());
        words.extend(arguments.program.iter().cloned());
    }
    let mut answer = begin(command_line(&["scan"], std::slice::from_ref(&named), &words, None));
    for (path, cause) in &tree.unreadable {
        answer.note(format!("damaged: {}: {cause}", shown(path)));
        answer.exit = Exit::Partial;
    }
    if tree.beyond > 0 || !tree.large.is_empty() {
        let (read, left_out) = (tree.scan.files_scanned, tree.beyond + tree.large.len());
        answer.note(format!("warning: read {read} source files and left out {left_out}; scan a directory below"));
    }
    if tree.scan.files_scanned == 0 {
        answer.abstain("there is no source file in the directory; name one with C, C++, HIP, CUDA, OpenCL or Python");
        return Ok(answer);
    }
    let document = json::value(&source_document(&tree, rows)?);
    for field in ["summary", "figures", "findings", "sections"] {
        answer.set_document(field, document.get(field).cloned().unwrap_or_default(), rows);
    }
    Ok(answer)
}
