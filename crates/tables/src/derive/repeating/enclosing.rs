//! Units of work that enclose repetitions: steps that ranges mark, steps of LLM servers, and launches of graphs.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use regex::Regex;
use serde::Deserialize;

use crate::columns::frames::add_texts;
use crate::columns::values::FrameValues;
use crate::derive::launching::kernel_order::KernelOrder;
use crate::derive::launching::launching_calls::LaunchingCalls;
use crate::derive::repeating::marked_ranges::{MarkedRanges, has_ranges};
use crate::derive::repeating::step_work::{StepFinder, graph_calls};
use crate::derive::{Frames, needed};
use wavesieve_model::analysis::inference::{KernelRoles, Role, StepFacts, StepKind, decide};
use wavesieve_model::analysis::ranges::names::is_named;

const FACTS: &str = data!("share/units.toml");

/// Facts that distinguish units of work; `share/units.toml` documents each.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnitsFile {
    backward_regex: String,
    least_backward_pct: u32,
    training_regex: String,
    least_within_pct: u32,
    least_layers: u32,
    least_replayed_pct: u32,
    least_layer_pct: u32,
    least_covered_pct: u32,
    least_ranges: usize,
    most_ranges: usize,
    step: Vec<StepText>,
    evidence: Vec<EvidenceFact>,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepText {
    regex: String,
    #[serde(default)]
    alone: bool,
    #[serde(default)]
    single: bool,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvidenceFact {
    id: String,
    confidence: Confidence,
    #[serde(rename = "source")]
    _source: String,
}

/// How sure it is that something is the unit of work; `share/units.toml` has the meanings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Confidence {
    High,
    Medium,
    Low,
}

impl Confidence {
    /// Word for it in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }

    fn less(self) -> Self {
        if self == Self::High { Self::Medium } else { Self::Low }
    }
}

/// How units of work were found, the strongest evidence first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// Ranges of the program or its framework.
    Range,
    /// Ranges that an LLM server opens around its steps.
    Server,
    /// Kernels that choose the tokens of an LLM server.
    Tokens,
    /// Launches of graphs.
    Replay,
}

impl Evidence {
    /// Word for it in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Range => "range",
            Self::Server => "server_marker",
            Self::Tokens => "tokens",
            Self::Replay => "graph_replay",
        }
    }

    /// Word for a unit that is known by it.
    pub fn unit(self) -> &'static str {
        if self == Self::Replay { "replay" } else { "step" }
    }
}

/// Units of one kind of evidence.
pub(super) struct Enclosing {
    pub evidence: Evidence,
    /// First start and last end of the work of each, in order.
    pub times_ns: Vec<(i64, i64)>,
    /// Whether each is a prompt of an LLM server; none if the kinds are unknown or all the same.
    pub prompts: Vec<bool>,
}

/// Thresholds and texts of the binary.
pub(super) struct UnitFacts {
    file: UnitsFile,
    texts: Vec<(Regex, bool)>,
    /// Texts of ranges of which a single one is a step.
    single: Vec<Regex>,
    /// Texts of ranges of a training.
    training: Regex,
}

impl UnitFacts {
    /// Reads them.
    ///
    /// # Errors
    /// When the file is wrong, which the tests exclude.
    pub fn builtin() -> Result<Self> {
        let file: UnitsFile = toml::from_str(FACTS)?;
        let of_single = |single: bool| file.step.iter().filter(move |step| step.single == single);
        let texts: Result<_> = of_single(false).map(|step| Ok((Regex::new(&step.regex)?, step.alone))).collect();
        let single: Result<_> = of_single(true).map(|step| Ok(Regex::new(&step.regex)?)).collect();
        let training = Regex::new(&file.training_regex)?;
        Ok(Self { texts: texts?, single: single?, training, file })
    }

    /// Whether so many of some repetitions start in enclosing units.
    pub fn are_within(&self, within: usize, all: usize) -> bool {
        within as u64 * 100 >= all as u64 * u64::from(self.file.least_within_pct)
    }

    /// Whether so many repetitions in so many units are layers of these.
    pub fn are_layers(&self, within: usize, units: usize) -> bool {
        units > 0 && within as u64 >= units as u64 * u64::from(self.file.least_layers)
    }

    /// Whether layers or ranges with so much kernel time are a part of `all_ns` that matters.
    pub fn are_parts(&self, parts_ns: i64, all_ns: i64) -> bool {
        i128::from(parts_ns) * 100 >= i128::from(all_ns) * i128::from(self.file.least_layer_pct)
    }

    /// How sure units are that were found by such evidence and have so much of all kernel time.
    pub fn confidence(&self, found_by: &str, kernel_ns: i64, all_ns: i64) -> Confidence {
        let known = self.file.evidence.iter().find(|evidence| evidence.id == found_by);
        let confidence = known.map_or(Confidence::Low, |evidence| evidence.confidence);
        let is_most = i128::from(kernel_ns) * 100 >= i128::from(all_ns) * i128::from(self.file.least_covered_pct);
        if is_most { confidence } else { confidence.less() }
    }

    /// The least number of ranges of a name, and the greatest number of names, that are listed as other units.
    pub fn listed_ranges(&self) -> (usize, usize) {
        (self.file.least_ranges, self.file.most_ranges)
    }

    /// Names of kernels of a backward pass.
    ///
    /// # Errors
    /// When the file is wrong, which the tests exclude.
    pub fn backward_names(&self) -> Result<Regex> {
        Ok(Regex::new(&self.file.backward_regex)?)
    }

    /// Whether so many of the layers of a block have kernels of a backward pass that it is one, or so few that it is not one.
    pub fn is_backward(&self, with_any: usize, all: usize) -> Option<bool> {
        let least = u64::from(self.file.least_backward_pct);
        let [with_any, all] = [with_any as u64 * 100, all as u64];
        match all {
            0 => None,
            _ if with_any >= all * least => Some(true),
            _ if with_any <= all * 100_u64.saturating_sub(least) => Some(false),
            _ => None,
        }
    }

    /// Units by all kinds of evidence, the strongest first.
    ///
    /// # Errors
    /// When a needed column is missing or has another type.
    pub fn enclosing(&self, tables: &Frames, order: &KernelOrder) -> Result<Vec<Enclosing>> {
        let found = [Some(self.marked(tables, false)?), of_server(tables)?, self.replays(tables, order, false)?];
        Ok(found.into_iter().flatten().map(Enclosing::tidy).filter(|found| !found.times_ns.is_empty()).collect())
    }

    /// Steps that ranges mark, or a server; `None` without any. A single range counts, since the user asks for it.
    ///
    /// # Errors
    /// As for [`Self::enclosing`].
    pub fn steps(&self, tables: &Frames) -> Result<Option<Enclosing>> {
        let mut found: Vec<Enclosing> = [Some(self.marked(tables, true)?), of_server(tables)?]
            .into_iter()
            .flatten()
            .map(Enclosing::tidy)
            .filter(|found| !found.times_ns.is_empty())
            .collect();
        // A single step may be around several of an LLM server.
        found.sort_by_key(|one| one.times_ns.len() == 1);
        Ok(found.into_iter().next())
    }

    /// Whether some steps of an LLM server have prompts, and others decode.
    ///
    /// # Errors
    /// As for [`Self::enclosing`].
    pub fn has_prompts(&self, tables: &Frames) -> Result<bool> {
        Ok(of_server(tables)?.is_some_and(|steps| !steps.prompts.is_empty()))
    }

    /// Ranges with a name.
    ///
    /// # Errors
    /// As for [`Self::enclosing`].
    pub fn named(&self, tables: &Frames, name: &str) -> Result<Enclosing> {
        let is_of = |text: &str| is_named(text, name);
        let times_ns = MarkedRanges::find(tables, &is_of)?.map(|ranges| ranges.times_ns(&is_of)).unwrap_or_default();
        Ok(Enclosing::of_ranges(times_ns))
    }

    /// Steps that ranges mark. A single one may be around the whole program, unless `alone` ones count too.
    fn marked(&self, tables: &Frames, alone: bool) -> Result<Enclosing> {
        let matches = |text: &str| self.texts.iter().find(|(regex, _)| regex.is_match(text));
        let Some(ranges) = MarkedRanges::find(tables, &|text| matches(text).is_some())? else {
            return self.single(tables);
        };
        let times_ns = ranges.times_ns(&|_| true);
        let is_one = times_ns.len() == 1 && !alone;
        Ok(Enclosing::of_ranges(if is_one {
            ranges.times_ns(&|text| matches(text).is_some_and(|(_, alone)| *alone))
        } else {
            times_ns
        }))
    }

    /// The single range around a pass, if there is one, and no range of a training.
    fn single(&self, tables: &Frames) -> Result<Enclosing> {
        let is_pass = |text: &str| self.single.iter().any(|regex| regex.is_match(text));
        let ranges = MarkedRanges::find(tables, &is_pass)?;
        let times_ns = ranges.map(|ranges| ranges.times_ns(&|_| true)).unwrap_or_default();
        let is_alone =
            times_ns.len() == 1 && MarkedRanges::find(tables, &|text| self.training.is_match(text))?.is_none();
        Ok(Enclosing::of_ranges(if is_alone { times_ns } else { Vec::new() }))
    }

    /// Launches of graphs, if most kernels were launched so or `any` count.
    ///
    /// # Errors
    /// As for [`Self::enclosing`].
    pub fn replays(&self, tables: &Frames, order: &KernelOrder, any: bool) -> Result<Option<Enclosing>> {
        if tables.get("regions").is_none() {
            return Ok(None);
        }
        let Launches { mut replays, graph_ids } = Launches::find(tables, order)?;
        if replays.is_empty() {
            return Ok(None);
        }
        let launches = LaunchingCalls::from_frames(tables)?;
        let graphs = graph_calls(&launches)?;
        let is_graph = |id: &i64| {
            let call = launches.get(Some(*id)).and_then(|call| graphs.get(call.row as usize).copied().flatten());
            call == Some(true) || graph_ids.contains(id)
        };
        replays.retain(|id, _| is_graph(id));
        let replayed: usize = replays.values().map(|(.., kernels)| kernels).sum();
        let valid = needed(tables, "kernels")?.truths("valid")?.are_true().set_bits();
        let is_most = any || replayed as u64 * 100 >= valid as u64 * u64::from(self.file.least_replayed_pct);
        let mut times_ns: Vec<(i64, i64)> =
            replays.into_values().filter(|_| is_most).map(|(start_ns, end_ns, _)| (start_ns, end_ns)).collect();
        times_ns.sort_unstable();
        Ok(Some(Enclosing { evidence: Evidence::Replay, times_ns, prompts: Vec::new() }))
    }
}

/// Launches of several kernels at once, which may be graphs.
#[derive(Default)]
struct Launches {
    /// First start, last end and number of kernels by the id that they share.
    replays: BTreeMap<i64, (i64, i64, usize)>,
    /// Ids of launches of graphs, as far as kernels show it.
    graph_ids: BTreeSet<i64>,
}

impl Launches {
    fn find(tables: &Frames, order: &KernelOrder) -> Result<Self> {
        let kernels = needed(tables, "kernels")?;
        let [ids, gpus, starts, ends] = kernels.integers(["correlation_id", "gpu", "start_ns", "end_ns"])?;
        let graph_execs = kernels.integer("graph_exec_id")?;
        let valid = kernels.truths("valid")?.are_true();
        let mut replays: BTreeMap<i64, (i64, i64, usize)> = BTreeMap::new();
        let mut graph_ids: BTreeSet<i64> = BTreeSet::new();
        // Id, start and end of the last kernel of each GPU.
        let mut before: BTreeMap<Option<i64>, (Option<i64>, i64, i64)> = BTreeMap::new();
        for row in order.rows().map(|row| row as usize).filter(|row| valid.get(*row) == Some(true)) {
            let (Some(start_ns), Some(end_ns)) = (starts.get(row), ends.get(row)) else { continue };
            let id = ids.get(row).filter(|id| *id != 0);
            let last = before.insert(gpus.get(row), (id, start_ns, end_ns));
            if let (Some(id), Some((Some(other), first_ns, last_ns))) = (id, last)
                && id == other
            {
                let known = replays.entry(id).or_insert((first_ns, last_ns, 1));
                *known = (known.0.min(start_ns), known.1.max(end_ns), known.2 + 1);
                if graph_execs.get(row).is_some_and(|graph| graph != 0) {
                    graph_ids.insert(id);
                }
            }
        }
        Ok(Self { replays, graph_ids })
    }
}

impl Enclosing {
    pub fn of_ranges(times_ns: Vec<(i64, i64)>) -> Self {
        Self { evidence: Evidence::Range, times_ns, prompts: Vec::new() }.tidy()
    }

    /// Without units that are empty or start with the one before.
    pub fn tidy(mut self) -> Self {
        let mut last_ns = None;
        let is_own: Vec<bool> = self
            .times_ns
            .iter()
            .map(|(start_ns, end_ns)| {
                let is_own = start_ns < end_ns && last_ns.is_none_or(|last_ns| last_ns < *start_ns);
                last_ns = if is_own { Some(*start_ns) } else { last_ns };
                is_own
            })
            .collect();
        let mut kept = is_own.iter();
        self.prompts.retain(|_| kept.next() == Some(&true));
        let mut kept = is_own.iter();
        self.times_ns.retain(|_| kept.next() == Some(&true));
        self
    }
}

/// Whether a text is one of a range around a step, of a program, its framework or an LLM server.
///
/// # Errors
/// When the facts of the binary are wrong, which the tests exclude.
pub fn step_texts() -> Result<impl Fn(&str) -> bool> {
    let (units, steps) = (UnitFacts::builtin()?, StepFacts::builtin()?);
    Ok(move |text: &str| units.texts.iter().any(|(regex, _)| regex.is_match(text)) || steps.marked_step(text).is_some())
}

/// Steps of an LLM server.
fn of_server(tables: &Frames) -> Result<Option<Enclosing>> {
    let facts = StepFacts::builtin()?;
    if tables.get("regions").is_none() || !may_serve(tables, &facts)? {
        return Ok(None);
    }
    let steps = StepFinder::new(&facts, tables)?.steps()?;
    let known: Vec<_> = steps.iter().map(|step| (step.marked.kind, step.roles)).collect();
    let decided = decide(&known, facts.least_prefill_ratio());
    // A step with prompts may have decodes too.
    let prompts: Vec<bool> =
        decided.iter().map(|one| matches!(one.kind, Some(StepKind::Prefill | StepKind::Mixed))).collect();
    let has_both = prompts.contains(&true) && decided.iter().any(|one| one.kind == Some(StepKind::Decode));
    let is_marked = steps.iter().any(|step| step.range_id.is_some());
    Ok(Some(Enclosing {
        evidence: if is_marked { Evidence::Server } else { Evidence::Tokens },
        times_ns: steps.iter().map(|step| (step.start_ns, step.end_ns)).collect(),
        prompts: if has_both { prompts } else { Vec::new() },
    }))
}

/// Whether more than the kernels must be read to find units: there are ranges, kernels that choose tokens, or launches
/// of several kernels. Of `regions`, only the domains are needed.
///
/// # Errors
/// When a needed column is missing or has another type.
pub(super) fn is_there_evidence(tables: &Frames) -> Result<bool> {
    Ok(has_ranges(tables)?
        || chooses_tokens(tables)?
        || !Launches::find(tables, &tables.kernel_order()?)?.replays.is_empty())
}

/// Whether ranges of a server or kernels that choose tokens exist at all, by their different texts.
fn may_serve(tables: &Frames, facts: &StepFacts) -> Result<bool> {
    if chooses_tokens(tables)? {
        return Ok(true);
    }
    let is_step = |text: &String| facts.marked_step(text).is_some();
    Ok(has_ranges(tables)? && texts_of(tables, "regions", "message")?.iter().any(is_step))
}

fn chooses_tokens(tables: &Frames) -> Result<bool> {
    let roles = KernelRoles::builtin()?;
    Ok(texts_of(tables, "kernels", "kernel_name")?.iter().any(|name| roles.role(name) == Some(Role::TokenChoice)))
}

fn texts_of(tables: &Frames, table: &str, column: &str) -> Result<BTreeSet<String>> {
    let mut texts = BTreeSet::new();
    add_texts(needed(tables, table)?.column(column)?, &mut texts)?;
    Ok(texts)
}
