//! The tools: `share/mcp/tools.json` declares them, and each has a function.

mod analyze;
mod check;
mod compare;
mod declarations;
mod info;
mod plan;
mod plot;
mod scan;
mod sql;
mod table;
mod tables;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::McpOptions;
use super::answer::ToolAnswer;
use super::argument_check::checked;
use super::arguments::{FilterTexts, Texts};
use super::failure::ToolFailure;
use super::paths::Roots;
use super::traces::{Asked, Traces};
use super::worker::Behind;
use crate::llm::TableMask;
use wavesieve_model::analysis::counter_plan::quoted;
use wavesieve_model::schema::Table;
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::selection::SharedMask;

pub(super) use declarations::{INSTRUCTIONS, input_schema};
pub use declarations::{declared, tool_docs};

/// Default number of rows of a table.
const USUAL_ROWS: usize = 50;
/// Result field with the originals of a mask's tokens.
pub(super) const ORIGINALS: &str = "originals";

/// The state of the tools.
pub(super) struct Toolbox<'a> {
    options: &'a McpOptions,
    roots: Roots,
    traces: Traces,
    /// The last analysis, for later calls about its findings.
    analyzed: Option<analyze::Analyzed>,
    /// Notes of the current call about its inputs.
    notes: Vec<String>,
    /// The mask over texts that the current call must not see.
    behind: Option<BehindMask>,
}

/// A mask, and the filters that see names.
pub(super) struct BehindMask {
    pub(super) mask: Arc<TableMask>,
    pub(super) own_filters: BTreeSet<String>,
}

impl BehindMask {
    fn new(behind: Behind) -> Result<Self, ToolFailure> {
        let mask = TableMask::new(behind.mask).map_err(|error| ToolFailure::usage(error.to_string()))?;
        Ok(Self { mask: Arc::new(mask), own_filters: behind.own_filters })
    }

    /// The mask in the form that tables take.
    pub(super) fn shared(&self) -> SharedMask {
        Arc::<TableMask>::clone(&self.mask)
    }
}

impl<'a> Toolbox<'a> {
    pub(super) fn new(options: &'a McpOptions) -> Result<Self, ToolFailure> {
        let roots = Roots::new(&options.directories)?;
        Ok(Self { options, roots, traces: Traces::default(), analyzed: None, notes: Vec::new(), behind: None })
    }

    /// Resets the state of a call that was aborted.
    pub(super) fn forget(&mut self) {
        self.traces.clear();
        self.analyzed = None;
    }

    pub(super) fn call(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
        behind: Option<Behind>,
    ) -> Result<Value, ToolFailure> {
        self.behind = behind.map(BehindMask::new).transpose()?;
        let mut result = self.answered(tool, arguments)?;
        if let Some(behind) = &self.behind {
            let originals = behind.mask.originals_in(&result.to_string());
            if let Some(fields) = result.as_object_mut() {
                fields.insert(ORIGINALS.to_owned(), serde_json::to_value(originals).map_err(anyhow::Error::from)?);
            }
        }
        Ok(result)
    }

    fn answered(&mut self, tool: &str, arguments: Map<String, Value>) -> Result<Value, ToolFailure> {
        let unknown = || ToolFailure::usage(format!("unknown tool {tool}; tools/list lists them"));
        let arguments = checked(tool, input_schema(tool).ok_or_else(unknown)?, arguments)?;
        self.notes.clear();
        let mut answer = match tool {
            "info" => info::call(self, arguments),
            "check" => check::call(self, arguments),
            "tables" => tables::call(self, arguments),
            "table" => table::call(self, arguments),
            "plot" => plot::call(self, arguments),
            "sql" => sql::call(self, arguments),
            "analyze" => analyze::analyze(self, arguments),
            "findings" => analyze::findings(self, arguments),
            "compare" => compare::call(self, arguments),
            "scan" => scan::call(self, arguments),
            "plan" => plan::call(self, arguments),
            _ => Err(unknown()),
        }?;
        for note in self.notes.drain(..) {
            answer.note(note);
        }
        answer.result(self.options.max_bytes)
    }

    /// Opens a trace, and resolves its inputs.
    fn open(
        &mut self,
        inputs: &Texts,
        filters: &FilterTexts,
        subject: Option<&'static Table>,
    ) -> Result<(Arc<Trace>, Vec<String>), ToolFailure> {
        let filters = filters.filters(subject, self.behind.as_ref())?;
        let inputs = self.inputs(inputs)?;
        let subject = subject.filter(|_| filters.condition.is_some()).map(|table| table.name);
        let mask = self.behind.as_ref().filter(|_| filters.is_masked()).map(|behind| behind.mask.fingerprint());
        let asked = Asked { filters, mask, hides_inputs: self.behind.is_some() };
        let trace = self.traces.open(&inputs, asked, subject, &self.roots, self.options)?;
        Ok((trace, inputs))
    }

    /// The resolved inputs, each once.
    fn inputs(&mut self, named: &Texts) -> Result<Vec<String>, ToolFailure> {
        let (mut inputs, mut seen) = (Vec::new(), BTreeSet::new());
        let (all, left_out) = self.roots.inputs(named.list())?;
        for link in left_out {
            let reason = "leads out of the directories of this server, and is left out";
            self.notes.push(format!("note: {} {reason}", link.display()));
        }
        for input in all {
            if seen.insert(input.clone()) {
                inputs.push(input);
            } else {
                self.notes.push(format!("note: {input} is named more than once; it is read once"));
            }
        }
        Ok(inputs)
    }

    /// The number of rows that a call may show.
    fn rows(&self, asked: Option<usize>) -> usize {
        asked.filter(|rows| *rows > 0).unwrap_or(USUAL_ROWS).min(self.options.max_rows)
    }
}

/// The command line for the same answer: the verb with its words, the inputs, and the filters of the trace.
fn command_line(verb: &[&str], inputs: &[String], options: &[String], trace: Option<&Trace>) -> String {
    let words = ["wavesieve"].iter().chain(verb).map(|word| (*word).to_owned());
    let filters = trace.map(|trace| trace.choice().command_line()).unwrap_or_default();
    let words = words.chain(inputs.iter().cloned()).chain(options.iter().cloned()).chain(filters);
    words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
}

/// Starts an answer with the command line for the same result.
fn begin(command: String) -> ToolAnswer {
    let mut answer = ToolAnswer::default();
    answer.set("command", command);
    answer
}
