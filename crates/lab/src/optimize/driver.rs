//! Proposes, builds, checks and measures candidates, one after the other.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::attempt::Attempt;
use super::commands::{Commands, Ran};
use super::correctness::{Candidate, Checks, Expected, last_lines};
use super::declarations::included_from_outside;
use super::error::OptimizeError;
use super::gates::{Gate, GateResult, Verdict, is_accepted};
use super::interface::{self, Compiled, compiled};
use super::promotion::{change, promote};
use super::resources::{self, Limits};
use super::speed::Race;
use super::target::Target;
use super::tree::{Listing, copy};
use crate::interactive::edits::Edit;
use crate::interactive::programs::Application;
use crate::proposers::{KernelFacts, ModelProposer, Prompted, Question, Transform};
use wavesieve_files::regular::{self, LARGE_BYTES};

const LOG: &str = "attempts.jsonl";
const BASE: &str = "base";
const TRACES: &str = "traces";

/// Options of an optimization.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the profiled kernel that the facts belong to.
    pub profiled: Option<String>,
    /// Name of the kernel, if the source has several.
    pub kernel: Option<String>,
    pub build: Application,
    pub application: Application,
    pub checks: Checks,
    pub limits: Limits,
    /// File with the code object, below the sources.
    pub object: Option<PathBuf>,
    pub runs: u32,
    pub min_gain_pct: f64,
    /// Maximum number of candidates.
    pub attempts: u32,
    /// How often a proposer may correct a change that does not build.
    pub repairs: u32,
    pub accepts_unverified: bool,
    pub transforms: Vec<Transform>,
    pub facts: KernelFacts,
    /// The output folder.
    pub directory: PathBuf,
}

/// Receives progress reports.
pub trait Observer {
    /// A step starts.
    fn begins(&self, what: &str);
    /// A candidate passed or failed a gate.
    fn gate(&self, attempt: u32, result: &GateResult);
    /// A line worth reporting.
    fn note(&self, text: &str);
}

/// Creates the proposer with a model after the original program was measured; `None` without a model.
pub(crate) type MakeModel<'a> = dyn Fn(&[PathBuf]) -> Result<Option<ModelProposer<'a>>, OptimizeError> + 'a;

/// The outcome of an optimization.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub attempts: Vec<Attempt>,
    /// The request that would have been sent, if it was only to be shown.
    pub shown: Option<String>,
    /// The accepted attempt with the patch, and the patch file.
    pub promoted: Option<(u32, PathBuf)>,
    /// Transforms that do not fit, with the reasons.
    pub refusals: Vec<(&'static str, String)>,
}

/// A state of the sources that candidates are compared with.
struct Version {
    /// The attempt that made it; zero is the original program.
    number: u32,
    copy: PathBuf,
    text: String,
    target: Target,
    compiled: Vec<Compiled>,
}

struct Driver<'a> {
    options: &'a Options,
    commands: &'a Commands<'a>,
    observer: &'a dyn Observer,
    model: Option<ModelProposer<'a>>,
    expected: Expected,
    base: Version,
    original: String,
    originals: Listing,
    facts: KernelFacts,
    outcome: Outcome,
}

/// Returns whether a folder has attempts or measurements, which are always kept.
pub fn has_results(directory: &Path) -> bool {
    directory.join(LOG).exists() || directory.join(TRACES).exists()
}

/// Tries changes until no more are left or the limit is reached.
///
/// # Errors
/// When the original program does not pass its own checks, or something fails that is not the fault of a candidate.
pub fn optimize<'a>(
    options: &'a Options,
    commands: &'a Commands<'a>,
    make_model: &MakeModel<'a>,
    observer: &'a dyn Observer,
) -> Result<Outcome, OptimizeError> {
    let mut driver = Driver::new(options, commands, make_model, observer)?;
    driver.transforms()?;
    driver.ask_model()?;
    Ok(driver.outcome)
}

impl<'a> Driver<'a> {
    /// Builds, checks and measures the original program.
    fn new(
        options: &'a Options,
        commands: &'a Commands<'a>,
        make_model: &MakeModel<'a>,
        observer: &'a dyn Observer,
    ) -> Result<Self, OptimizeError> {
        let place = &commands.place;
        let path = place.root.join(&place.file);
        let original = read_source(&path)?;
        let target = Target::find(&original, options.kernel.as_deref())?;
        if let Some(profiled) = options.profiled.as_ref().filter(|profiled| !target.is(profiled)) {
            let text = format!("the profile is of {profiled}, not of {}; profile that kernel", target.kernel.name);
            return Err(OptimizeError::Usage(text));
        }
        fs::create_dir_all(&options.directory)
            .with_context(|| format!("cannot make {}; name another with --output", options.directory.display()))?;
        let originals = Listing::of(&place.root, &options.directory)?;
        let folder = options.directory.join(BASE);
        observer.begins("building the program as it is");
        for link in copy(&place.root, &folder, &options.directory)? {
            let text = format!(
                "{} leads out of the sources and is not copied: commands that write there change it",
                link.display()
            );
            observer.note(&text);
        }
        let before = Listing::of(&folder, Path::new("-"))?;
        let built = commands.run(&options.build, &folder)?;
        if let Some(problem) = &built.problem {
            let text = format!("does not build: {} {problem}{}", built.command, last_lines(&built));
            return Err(OptimizeError::Baseline(text));
        }
        let compiled = compiled(&folder, options.object.as_deref(), &before, &target)?;
        let base = Version { number: 0, copy: folder.clone(), text: original.clone(), target, compiled };
        let mut driver = Self {
            options,
            commands,
            observer,
            model: None,
            expected: Vec::new(),
            base,
            original,
            originals,
            facts: options.facts.clone(),
            outcome: Outcome::default(),
        };
        driver.check_originals(&built.command)?;
        observer.begins("checking the program as it is");
        let object = object_of(&folder, &driver.base.compiled);
        driver.expected = options.checks.expected(&driver.candidate(&folder, object.as_deref()))?;
        observer.begins("measuring the program as it is");
        let is_kernel = |name: &str| driver.base.target.is(name);
        let race = driver.race(&is_kernel);
        let (times, _) = race.run(&folder, &options.directory.join(TRACES).join(BASE))?;
        if !times.kernels.iter().any(|kernel| is_kernel(&kernel.name)) {
            let found: Vec<&str> = times.kernels.iter().take(5).map(|kernel| kernel.name.as_str()).collect();
            let text = format!("does not run {}; its kernels are {}", driver.base.target.kernel.name, found.join(", "));
            return Err(OptimizeError::Baseline(text));
        }
        if driver.facts.work_items.is_none() {
            driver.facts.work_items = super::speed::largest_workgroup(&times, &is_kernel)?;
        }
        driver.check_originals(&options.application.line())?;
        driver.model = make_model(&times.traces)?;
        Ok(driver)
    }

    fn race<'b>(&'b self, is_kernel: &'b dyn Fn(&str) -> bool) -> Race<'b> {
        Race {
            commands: self.commands,
            application: &self.options.application,
            is_kernel,
            runs: self.options.runs,
            min_gain_pct: self.options.min_gain_pct,
            checks: &self.options.checks,
            expected: &self.expected,
        }
    }

    fn candidate<'b>(&'b self, copy: &'b Path, object: Option<&'b Path>) -> Candidate<'b> {
        Candidate { commands: self.commands, application: &self.options.application, copy, object }
    }

    fn transforms(&mut self) -> Result<(), OptimizeError> {
        for transform in self.options.transforms.clone() {
            if self.is_enough() {
                break;
            }
            match transform.apply(&self.base.text, &self.base.target.kernel, &self.facts) {
                Err(refusal) => self.outcome.refusals.push((transform.word(), refusal.0)),
                Ok(transformed) => {
                    let edit = self.edit_between(&self.base.text, &transformed.text);
                    let attempt = Attempt { reason: transformed.reason, ..self.attempt(transform.word(), 0) };
                    self.try_edit(attempt, &edit)?;
                }
            }
        }
        Ok(())
    }

    fn ask_model(&mut self) -> Result<(), OptimizeError> {
        let Some(model) = self.model.take() else { return Ok(()) };
        let (mut problem, mut repair): (Option<String>, u32) = (None, 0);
        let mut failed: BTreeSet<String> = BTreeSet::new();
        while problem.is_some() || !self.is_enough() {
            self.observer.begins("asking the model");
            let question = Question {
                root: &self.base.copy,
                file: &self.commands.place.file,
                text: &self.base.text,
                kernel: &self.base.target.kernel,
                facts: &self.facts,
                tried: self.tried(),
                problem: problem.clone(),
            };
            let asked = self.attempt("model", repair);
            let (failure, answer) = match model.ask(&question)? {
                Prompted::Shown(text) => {
                    self.outcome.shown = Some(text);
                    return Ok(());
                }
                Prompted::Refused { reason, prompt, reply } => {
                    let attempt = Attempt { prompt: Some(prompt), reply: Some(reply.clone()), ..asked };
                    self.observer.note(&format!("attempt {} (model): {reason}", attempt.attempt));
                    self.refuse(attempt, reason.clone())?;
                    (Some(reason), reply)
                }
                Prompted::Edit { edit, prompt, reply } => {
                    let reason = reply.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
                    let attempt = Attempt { reason, prompt: Some(prompt), reply: Some(reply.clone()), ..asked };
                    (self.try_edit(attempt, &edit)?, reply)
                }
            };
            let is_accepted = self.outcome.attempts.last().is_some_and(|attempt| attempt.is_accepted);
            if !is_accepted && !failed.insert(answer) {
                self.observer.note("the model repeated a rejected answer; stopping");
                return Ok(());
            }
            // A correctable answer is requested again, with the problem; everything else is a new attempt.
            (problem, repair) = match failure {
                Some(failure) if repair < self.options.repairs => (Some(failure), repair + 1),
                _ => (None, 0),
            };
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.outcome.attempts.iter().filter(|attempt| attempt.repair == 0).count() >= self.options.attempts as usize
    }

    /// Runs a change through the gates; returns the failure if a proposer could correct it.
    fn try_edit(&mut self, mut attempt: Attempt, edit: &Edit) -> Result<Option<String>, OptimizeError> {
        self.observer.begins(&format!("attempt {} ({}): {}", attempt.attempt, attempt.proposer, attempt.reason));
        attempt.diff = Some(edit.diff());
        if let Some(line) = edit.files.iter().find_map(|file| {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            included_from_outside(&text(&file.before), &text(&file.after))
        }) {
            let reason = format!("it includes a file outside the sources: {line}");
            self.observer.note(&reason);
            self.refuse(attempt, reason.clone())?;
            return Ok(Some(reason));
        }
        let version = self.judge(&mut attempt, edit)?;
        attempt.is_accepted = is_accepted(&attempt.gates, self.options.accepts_unverified);
        let correctable = attempt.gates.last().filter(|result| {
            result.verdict == Verdict::Fail && matches!(result.gate, Gate::Builds | Gate::Interface | Gate::Correct)
        });
        let failure = correctable.map(|result| format!("{}: {}", result.gate.word(), result.reason));
        self.record(attempt)?;
        if let Some(version) = version
            && self.outcome.attempts.last().is_some_and(|attempt| attempt.is_accepted)
        {
            self.base = version;
            // Promotes at once: later steps may fail.
            self.promote()?;
        }
        Ok(failure)
    }

    /// Runs all gates in order, up to the first failed one.
    fn judge(&self, attempt: &mut Attempt, edit: &Edit) -> Result<Option<Version>, OptimizeError> {
        let options = self.options;
        let folder = options.directory.join(format!("candidate-{}", attempt.attempt));
        copy(&self.commands.place.root, &folder, &options.directory)?;
        // The original sources, then the accepted changes, then this change.
        if self.base.text != self.original {
            self.edit_between(&self.original, &self.base.text).apply(&folder)?;
        }
        edit.apply(&folder)?;
        let path = folder.join(&self.commands.place.file);
        let text = regular::read_text(&path, LARGE_BYTES).with_context(|| format!("cannot read {}", path.display()))?;
        let target = self.base.target.again(&text);
        let before = Listing::of(&folder, Path::new("-"))?;
        let built = self.commands.run(&options.build, &folder)?;
        self.check_originals(&built.command)?;
        if !self.pass(attempt, of_build(&built)) {
            attempt.build = Some(built);
            return Ok(None);
        }
        attempt.build = Some(built);
        let compiled = match &target {
            Some(target) => compiled(&folder, options.object.as_deref(), &before, target).unwrap_or_default(),
            None => Vec::new(),
        };
        if !self.pass(
            attempt,
            interface::gate(
                (&self.base.target, &self.base.text),
                (target.as_ref(), &text),
                &self.base.compiled,
                &compiled,
            ),
        ) {
            return Ok(None);
        }
        let Some(target) = target else { return Ok(None) };
        let resources = resources::gate(&self.base.compiled, &compiled, &options.limits, self.facts.work_items);
        if !self.pass(attempt, resources) {
            return Ok(None);
        }
        let object = object_of(&folder, &compiled);
        let correct = options.checks.gate(&self.candidate(&folder, object.as_deref()), &self.expected)?;
        self.check_originals("the check")?;
        if !self.pass(attempt, correct) {
            return Ok(None);
        }
        let is_kernel = |name: &str| target.is(name);
        let race = self.race(&is_kernel);
        let traces = options.directory.join(TRACES).join(format!("attempt-{}", attempt.attempt));
        let times = match race.times(&self.base.copy, &folder, &traces)? {
            Ok(times) => times,
            Err(result) => {
                self.pass(attempt, result);
                return Ok(None);
            }
        };
        (attempt.base_ns, attempt.candidate_ns) = (times.base_ns.clone(), times.new_ns.clone());
        if !self.pass(attempt, race.faster(&times)) || !self.pass(attempt, race.others(&times)) {
            return Ok(None);
        }
        Ok(Some(Version { number: attempt.attempt, copy: folder, text, target, compiled }))
    }

    /// Records the result of a gate; returns whether the next gate may run.
    fn pass(&self, attempt: &mut Attempt, result: GateResult) -> bool {
        self.observer.gate(attempt.attempt, &result);
        let goes_on = result.verdict != Verdict::Fail;
        attempt.gates.push(result);
        goes_on
    }

    fn refuse(&mut self, attempt: Attempt, reason: String) -> Result<(), OptimizeError> {
        self.record(Attempt { refused: Some(reason), ..attempt })
    }

    fn record(&mut self, attempt: Attempt) -> Result<(), OptimizeError> {
        attempt.log(&self.options.directory.join(LOG))?;
        self.outcome.attempts.push(attempt);
        Ok(())
    }

    /// A new attempt, without its change.
    fn attempt(&self, proposer: &str, repair: u32) -> Attempt {
        Attempt {
            attempt: u32::try_from(self.outcome.attempts.len()).unwrap_or(u32::MAX).saturating_add(1),
            base: self.base.number,
            proposer: proposer.to_owned(),
            repair,
            ..Attempt::default()
        }
    }

    /// Rejected attempts, so that a model does not repeat them.
    fn tried(&self) -> Vec<String> {
        let tried = self.outcome.attempts.iter().filter(|attempt| !attempt.is_accepted && attempt.diff.is_some());
        tried
            .map(|attempt| {
                let reason = attempt.gates.last().map_or("", |result| result.reason.as_str());
                format!("{reason}\n{}", attempt.diff.as_deref().unwrap_or_default())
            })
            .collect()
    }

    fn edit_between(&self, before: &str, after: &str) -> Edit {
        change(&self.commands.place.file, before, after)
    }

    fn promote(&mut self) -> Result<(), OptimizeError> {
        let edit = self.edit_between(&self.original, &self.base.text);
        let path = promote(&edit, &self.commands.place.root, &self.options.directory)?;
        self.observer.note(&format!("attempt {} is promoted: {}", self.base.number, path.display()));
        self.outcome.promoted = Some((self.base.number, path));
        Ok(())
    }

    /// Checks that the sources are unchanged: commands must only write to the copies.
    fn check_originals(&self, command: &str) -> Result<(), OptimizeError> {
        let now = Listing::of(&self.commands.place.root, &self.options.directory)?;
        match now.changed_since(&self.originals).into_iter().next() {
            Some(path) => Err(OptimizeError::WroteOriginal { command: format!("`{command}`"), path }),
            None => Ok(()),
        }
    }
}

/// The text of a source.
///
/// # Errors
/// When it cannot be read, or is not UTF-8.
pub fn read_source(path: &Path) -> Result<String, OptimizeError> {
    fs::read_to_string(path).map_err(|error| {
        let advice = if error.kind() == std::io::ErrorKind::InvalidData {
            "; convert it to UTF-8, such as with iconv"
        } else {
            ""
        };
        OptimizeError::Usage(format!("{}: {error}{advice}", path.display()))
    })
}

fn object_of(copy: &Path, compiled: &[Compiled]) -> Option<PathBuf> {
    compiled.iter().find(|one| one.is_target).map(|one| copy.join(&one.file))
}

fn of_build(built: &Ran) -> GateResult {
    let seconds = built.seconds;
    let facts = serde_json::json!({ "seconds": seconds });
    match &built.problem {
        None => GateResult::new(Gate::Builds, Verdict::Pass, format!("built in {seconds:.1} s"), facts),
        Some(problem) => {
            let reason = format!("the build {problem}{}", last_lines(built));
            GateResult::new(Gate::Builds, Verdict::Fail, reason, facts)
        }
    }
}
