//! Findings of an analysis to work on.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::measuring::open_traces;
use wavesieve_engine::Registry;
use wavesieve_engine::findings::{Finding, Priority, recommended_commands};
use wavesieve_model::analysis::counter_plan::quoted;
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_report::analysis::{Analysis, AnalysisOptions};
use wavesieve_report::source_places;
use wavesieve_source::scan::{DEFAULT_ARCHITECTURE, Limits, Target, TreeScan, list, scan};
use wavesieve_tables::trace::Trace;

/// Recommendations of share/rules/recommendations.toml for PC sampling.
const SAMPLING: [&str; 2] = ["pc_sampling", "pc_sampling_host_trap"];
const ROWS: usize = 10;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recommended {
    pub description: String,
    pub words: Vec<String>,
}

impl Recommended {
    fn new(command: &wavesieve_engine::findings::Command) -> Self {
        Self { description: command.description.clone(), words: command.words.clone() }
    }

    pub fn line(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        words.join(" ")
    }
}

/// A finding in the form that a session stores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The id of the finding, which is the same in later traces.
    pub id: String,
    pub title: String,
    pub priority: Priority,
    pub category: String,
    pub explanation: String,
    pub advice: Vec<String>,
    pub commands: Vec<Recommended>,
    pub place: Option<(PathBuf, u32)>,
    /// Potential saving as a share of the span, in percent.
    pub saving_pct: Option<f64>,
}

pub struct Analyzed {
    pub analysis: Analysis,
    pub items: Vec<Item>,
    pub has_gpu_time: bool,
    /// Parts of the traces that could not be read.
    pub damage: Vec<Damage>,
}

impl Analyzed {
    /// Analyzes a trace, source code, or both.
    pub fn new(traces: &[PathBuf], sources: &[PathBuf], registry: &Registry) -> Result<Self> {
        let options = AnalysisOptions { registry: registry.clone(), rows: ROWS, ..AnalysisOptions::builtin()? };
        let trace = match traces {
            [] => None,
            _ => Some(open_traces(traces)?),
        };
        let of_trace = trace.as_ref().map(|trace| options.analyze(trace)).transpose()?;
        let source = scanned(sources, of_trace.as_ref())?;
        let has_gpu_time = of_trace.as_ref().is_some_and(|analysis| analysis.verdict.is_some());
        let analysis = match (of_trace, source) {
            (Some(analysis), Some(tree)) => analysis.with_source(tree, ROWS)?,
            (Some(analysis), None) => analysis,
            (None, Some(tree)) => Analysis::of_source(tree, ROWS, None)?,
            (None, None) => anyhow::bail!("there is neither a trace nor source code; name INPUT or --source-dir"),
        };
        let folder = source_folder(sources);
        let items = analysis.document.findings.iter().map(|finding| item(finding, &analysis, folder)).collect();
        let damage = trace.as_ref().map(Trace::damage).unwrap_or_default();
        Ok(Self { analysis, items, has_gpu_time, damage })
    }

    /// Commands for PC sampling, if the GPUs support it and the traces have no samples.
    pub fn sampling(&self) -> Vec<Recommended> {
        let commands = SAMPLING.iter().flat_map(|name| recommended_commands(name, None, &self.analysis.collected));
        commands.filter(|_| self.has_gpu_time).map(|command| Recommended::new(&command)).collect()
    }

    pub fn figures(&self) -> Vec<Vec<String>> {
        self.analysis.document.figures.iter().map(|one| vec![one.label.clone(), one.shown()]).collect()
    }
}

/// Scans the first source folder that exists.
fn scanned(sources: &[PathBuf], analysis: Option<&Analysis>) -> Result<Option<TreeScan>> {
    let Some(folder) = source_folder(sources) else { return Ok(None) };
    let target = Target {
        architecture: analysis.and_then(|one| one.collected.architecture()).unwrap_or(DEFAULT_ARCHITECTURE).to_owned(),
        program: analysis.map(|one| one.collected.program.clone()).unwrap_or_default(),
        rocm: analysis.and_then(|one| one.collected.rocm),
    };
    let tree = scan(folder, Limits::default(), &target, &());
    Ok(Some(tree.with_context(|| format!("cannot read {}", folder.display()))?))
}

pub(crate) fn source_folder(sources: &[PathBuf]) -> Option<&Path> {
    sources.iter().find(|path| path.exists()).map(PathBuf::as_path)
}

fn item(finding: &Finding, analysis: &Analysis, folder: Option<&Path>) -> Item {
    let place = analysis.source.as_ref().and_then(|tree| source_places(finding, &tree.scan).into_iter().next());
    // Paths are relative to the scanned folder, or name the only scanned file.
    let folder = folder.and_then(|folder| if folder.is_dir() { Some(folder) } else { folder.parent() });
    let place = place.zip(folder).map(|((file, line), folder)| (folder.join(file), line));
    let place = place.or_else(|| traced_place(finding, folder?));
    Item {
        id: finding.id.clone(),
        title: finding.title.clone(),
        priority: finding.priority,
        category: finding.category.clone(),
        explanation: finding.explanation.clone(),
        advice: finding.advice.clone(),
        commands: finding.commands.iter().map(Recommended::new).collect(),
        place,
        saving_pct: finding.saving.as_ref().map(|saving| saving.pct_of_span),
    }
}

/// The first source line in the evidence of a thread trace. If the file was compiled elsewhere, it must be the only one
/// of its name below the folder.
fn traced_place(finding: &Finding, folder: &Path) -> Option<(PathBuf, u32)> {
    let (file, line) = finding.evidence.iter().find_map(|evidence| {
        let files = evidence.frame.column("source_file").ok()?.str().ok()?;
        let row = files.iter().position(|file| file.is_some())?;
        let line = evidence.frame.column("source_line").ok()?.get(row).ok()?.extract::<u32>()?;
        Some((PathBuf::from(files.get(row)?), line))
    })?;
    if file.is_file() {
        return Some((file, line));
    }
    let name = file.file_name()?;
    let listing = list(folder, Limits::default()).ok()?;
    let mut same = listing.files.into_iter().filter(|one| one.path.file_name() == Some(name));
    let found = same.next()?;
    same.next().is_none().then_some((found.path, line))
}

/// Commands of items, the most urgent first, each once.
pub fn commands(items: &[Item]) -> Vec<Recommended> {
    let mut all: Vec<&Item> = items.iter().collect();
    all.sort_by_key(|item| item.priority);
    let mut commands: Vec<Recommended> = Vec::new();
    for command in all.into_iter().flat_map(|item| &item.commands) {
        if !commands.iter().any(|one| one.words == command.words) {
            commands.push(command.clone());
        }
    }
    commands
}

pub fn below(root: &Path, path: &Path) -> PathBuf {
    let absolute = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    absolute.strip_prefix(&root).map_or_else(|_| path.to_owned(), Path::to_owned)
}
