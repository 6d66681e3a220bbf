//! Parts of the run that figures and findings are about: the evenly repeating part, or the whole run if there is none.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::value::Value;

use super::answers::Answers;
use super::questions::{run_parts, time_question};
use super::rule_book::RuleBook;
use super::rule_context::{Rows, RuleContext};
use super::spans::{BROKEN_SPAN, Spans};
use super::texts::{counted, duration, thousands};
use super::unit_of_work::{RunRanks, UnitOfWork};
use wavesieve_tables::trace::views::View;

/// Id of the thresholds in the rule book.
pub(crate) const STEADY_VIEW: &str = "steady_view";

/// The kinds of parts, in the order of a run, with their names for readers.
const KINDS: [(&str, &str); 10] = [
    ("set_up", "before the first"),
    ("warmup", "slow first ones"),
    ("prefill", "prefill"),
    ("decode", "other decode"),
    ("steady", "steady"),
    ("dense", "dense work"),
    ("uneven", "uneven ones"),
    ("pause", "pauses"),
    ("cooldown", "slow last ones"),
    ("tail", "after the last"),
];

/// Shares of the spans by the ids of figures, and the columns that they are computed from.
const SHARES: [(&str, &str); 5] = [
    ("busy_pct", "busy_ns"),
    ("compute_pct", "compute_ns"),
    ("exposed_comm_pct", "exposed_comm_ns"),
    ("exposed_copy_pct", "exposed_copy_ns"),
    ("idle_pct", "idle_ns"),
];

/// Label of a run of which only an interval was chosen.
const CHOSEN_TIME: &str = "Chosen time";

/// The views of a run, the one that figures and findings are about first.
#[derive(Clone, Debug, Default)]
pub struct RunViews {
    all: Vec<RunView>,
    /// The unit of work with its evidence.
    unit: Option<UnitOfWork>,
}

/// Use of a view of the run by the GPUs.
#[derive(Clone, Debug)]
pub struct RunView {
    /// `steady`, `dense` or `whole_run`.
    pub id: &'static str,
    /// Name for readers.
    pub label: &'static str,
    pub view: View,
    /// The longest span of a GPU in nanoseconds, without intervals that are not part of the run.
    pub span_ns: i64,
    /// GPUs that worked in it.
    pub gpus: usize,
    /// Shares of the spans of all GPUs in percent, by the ids of figures.
    pub shares: Vec<(&'static str, f64)>,
    /// Whether copies are recorded, in this part of the run or elsewhere: otherwise nothing is known of exposed ones.
    pub has_copies: bool,
    /// Its iterations, if it has any.
    pub iterations: Option<IterationCounts>,
    /// Units of work, of the whole run only.
    pub units: Option<UnitCounts>,
    /// Parts of the run of all processes: kind, nanoseconds, percent; only for the whole run.
    pub parts: Vec<(&'static str, i64, f64)>,
}

/// Words for units of work, but `iteration`.
const UNITS: [&str; 5] = ["step", "replay", REPETITION, "layer", "range"];

/// Word for units of several kinds together.
const UNIT: &str = "unit";

/// Repetitions of the kernel sequence of which nothing shows that they are iterations: no steady part is claimed of them.
const REPETITION: &str = "repetition";

/// Evidence for units of work, with words for readers.
const EVIDENCE: [(&str, &str); 5] = [
    ("range", "marked by ranges"),
    ("server_marker", "marked by the server"),
    ("tokens", "each ends with its tokens"),
    ("graph_replay", "launched as one"),
    ("kernel_sequence", "by the sequence of kernels"),
];

/// Units of work of the whole run, over its processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitCounts {
    /// `step`, `replay`, `iteration`, `repetition`, `layer` or `range`: that of most processes.
    pub unit: &'static str,
    /// The same for readers, or `unit` if processes have different ones.
    word: &'static str,
    /// Evidence for them, as in the table `iterations`.
    pub found_by: &'static str,
    pub found: i64,
    /// Those of each process, if all that have some have as many.
    pub of_each: Option<i64>,
    /// Processes that have some.
    pub processes: i64,
    /// Those with prompts of an LLM server, if others decode.
    pub prefills: i64,
    /// Repetitions within the units.
    pub layers: i64,
}

/// Iterations of a view over the processes of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterationCounts {
    /// `step`, `replay`, `iteration`, `repetition`, `layer` or `range`: that of most processes.
    pub unit: &'static str,
    /// The same for readers, or `unit` if processes have different ones.
    word: &'static str,
    pub chosen: i64,
    pub found: i64,
    pub processes: i64,
    /// Processes in the view that have none.
    pub processes_without: i64,
    /// Iterations of each process in the view, if all processes have the same number.
    pub of_each: Option<i64>,
    /// Mean duration of an iteration in nanoseconds, without pauses between them.
    pub mean_ns: f64,
    /// The same with pauses: their share of the time in the view.
    pub every_ns: f64,
    /// Whether programs next to the run are in the inputs.
    pub has_others: bool,
}

/// Iterations of a view, of which each rank has as many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iterations {
    /// `step`, `replay`, `iteration`, `layer` or `range`, or `unit` if processes have different ones.
    pub unit: &'static str,
    pub count: i64,
    /// How long one takes, with pauses: the mean in nanoseconds.
    pub mean_ns: i64,
}

/// A part of the run of a process.
struct RunPart<'a> {
    process: usize,
    rank: Option<i64>,
    kind: &'a str,
    unit: &'static str,
    found_by: &'static str,
    duration_ns: i64,
    iterations: i64,
    pause_ns: i64,
    layers: i64,
}

impl RunPart<'_> {
    /// Whether it is of the steady part.
    fn is_in_view(&self) -> bool {
        matches!(self.kind, "steady" | "dense")
    }
}

impl RunViews {
    /// The views that the results cover. Only the whole run, if there were no questions about the steady part or if it is too small.
    pub fn new(answers: &Answers, book: &RuleBook) -> Self {
        let rows = answers.rows(run_parts());
        let parts = parts_of(&rows);
        let of_run = of_run(answers, &parts);
        let unit = UnitOfWork::new(answers);
        let mut views = Vec::new();
        if let Some(whole) = view_of(answers, book, View::WholeRun) {
            views.extend(steady_view(answers, book, &parts, &of_run));
            views.push(RunView { parts: shares_of(&parts), units: units_of(&of_run), ..whole });
        }
        Self { all: views, unit }
    }

    /// The same for a run of which only an interval was chosen.
    #[must_use]
    pub(crate) fn of_window(mut self) -> Self {
        for view in &mut self.all {
            view.label = CHOSEN_TIME;
        }
        self
    }

    /// The view that figures and findings are about.
    pub fn headline(&self) -> View {
        self.all.first().map_or(View::WholeRun, |view| view.view)
    }

    pub fn all(&self) -> &[RunView] {
        &self.all
    }

    /// The unit of work, if any was found, and others that can be chosen.
    pub fn unit(&self) -> Option<&UnitOfWork> {
        self.unit.as_ref()
    }

    /// A line for each view and one for the unit of work: its id, its label and its text.
    pub fn lines(&self) -> Vec<(&'static str, &'static str, String)> {
        let unit = self.unit.as_ref().map(|unit| ("unit_of_work", "Unit of work", unit.line()));
        self.all.iter().map(|view| (view.id, view.label, view.line())).chain(unit).collect()
    }

    /// The view that figures and findings are about, in a few words: `Steady: 3 of 5 iterations on 1 GPU, 1.05 s each: busy 6.8%, idle
    /// 93.2%`. `None` if no GPU worked.
    pub fn short(&self) -> Option<String> {
        self.all.first().map(|view| view.short(true))
    }

    /// The same without the units of work of the whole run, for narrow screens.
    pub fn short_without_units(&self) -> Option<String> {
        self.all.first().map(|view| view.short(false))
    }

    /// A part of the run in a sentence: `of the run`, `of the time in steady steps`, `of the chosen time`.
    pub(super) fn of_part(&self, view: View) -> String {
        let Some(first) = self.all.first() else { return "of the run".to_owned() };
        match (view, &first.iterations) {
            (View::Steady, Some(iterations)) => match (self.part_pct("steady"), self.part_pct("prefill")) {
                // Prefills are other work, and may be most of the run.
                (Some(decode_pct), Some(prefill_pct)) => format!(
                    "of the time in decode {}s ({decode_pct:.1}% of the run; prefill is {prefill_pct:.1}%)",
                    iterations.word
                ),
                _ => format!("of the time in steady {}s", iterations.word),
            },
            (View::Steady, None) => "of the dense work".to_owned(),
            (View::WholeRun, _) if first.label == CHOSEN_TIME => "of the chosen time".to_owned(),
            (View::WholeRun, _) => "of the run".to_owned(),
        }
    }

    /// Share of a part of the run of all processes, in percent.
    fn part_pct(&self, kind: &str) -> Option<f64> {
        let parts = self.all.iter().flat_map(|view| &view.parts);
        parts.into_iter().find(|(known, ..)| *known == kind).map(|(.., pct)| *pct)
    }

    /// Values for sentences about the view that figures and findings are about: `gpus_are`, and the shares by the ids of figures.
    pub(super) fn sentence_values(&self) -> impl Iterator<Item = (String, Value)> + use<> {
        let gpus_are = if self.all.first().is_some_and(|view| view.gpus > 1) { "the GPUs are" } else { "the GPU is" };
        let share = |id: &str| self.all.first().and_then(|view| view.share(id));
        let shares = SHARES.map(|(id, _)| (id.to_owned(), share(id).into()));
        shares.into_iter().chain([("gpus_are".to_owned(), gpus_are.into())])
    }

    /// The iterations of each rank in the first view, where all have as many.
    pub(crate) fn iterations_of_each(&self) -> Option<Iterations> {
        let iterations = self.all.first()?.iterations.as_ref()?;
        let count = iterations.of_each.filter(|count| *count > 0)?;
        Some(Iterations { unit: iterations.word, count, mean_ns: iterations.every_ns.round() as i64 })
    }
}

impl RunView {
    /// A share of the spans in percent, by the id of its figure.
    pub(super) fn share(&self, id: &str) -> Option<f64> {
        self.shares.iter().find(|(known, _)| *known == id).map(|(_, pct)| *pct)
    }

    fn short(&self, has_units: bool) -> String {
        let gpus = counted(self.gpus as f64, "GPU");
        let pct = |id: &str| self.share(id).unwrap_or_default();
        let head = match &self.iterations {
            Some(iterations) => {
                let (chosen, found) =
                    (thousands(iterations.chosen as f64), counted(iterations.found as f64, iterations.word));
                let each = duration(iterations.mean_ns);
                if iterations.has_others {
                    format!("{chosen} of {found} of the largest program, {each} each; {gpus} of all programs")
                } else {
                    format!("{chosen} of {found} on {gpus}, {each} each")
                }
            }
            None => {
                let units = self.units.as_ref().filter(|_| has_units);
                let units = units.map(|units| format!(", {}", units.counts())).unwrap_or_default();
                format!("{} on {gpus}{units}", duration(self.span_ns as f64))
            }
        };
        format!("{}: {head}: busy {:.1}%, idle {:.1}%", self.label, pct("busy_pct"), pct("idle_pct"))
    }

    /// Its summary, in a line.
    pub fn line(&self) -> String {
        let pct = |id: &str| self.share(id).unwrap_or_default();
        let shares = format!(
            "busy {:.1}% (compute {:.1}%, exposed communication {:.1}%{}), idle {:.1}%",
            pct("busy_pct"),
            pct("compute_pct"),
            pct("exposed_comm_pct"),
            if self.has_copies { format!(", exposed copies {:.1}%", pct("exposed_copy_pct")) } else { String::new() },
            pct("idle_pct"),
        );
        let head = match &self.iterations {
            Some(iterations) => iterations.line(),
            None => {
                let units = self.units.as_ref().map(UnitCounts::line).unwrap_or_default();
                format!("{}{units}", duration(self.span_ns as f64))
            }
        };
        // No steady part is claimed of repetitions.
        let is_claimed = self.units.as_ref().is_none_or(|units| units.word != REPETITION);
        let name = |kind: &'static str| if is_claimed || kind != "steady" { label(kind) } else { "repetitions" };
        let parts: Vec<String> = self.parts.iter().map(|(kind, _, pct)| format!("{} {pct:.1}%", name(kind))).collect();
        let parts = if parts.is_empty() { String::new() } else { format!("; {}", parts.join(", ")) };
        format!("{head}: {shares}{parts}")
    }
}

impl UnitCounts {
    fn line(&self) -> String {
        // Units of several kinds have several kinds of evidence.
        let evidence = if self.word == UNIT { String::new() } else { format!(" ({})", evidence_words(self.found_by)) };
        format!(", {}{evidence}", self.counts())
    }

    /// `12 steps of each of 3 processes`.
    fn counts(&self) -> String {
        let count = |count: i64, noun: &str| counted(count as f64, noun);
        // Those of other processes may not be decode steps.
        let prefills = if self.word == UNIT { 0 } else { self.prefills };
        let units = match (prefills, self.of_each) {
            (0, Some(each)) => count(each, self.word),
            (0, None) => count(self.found, self.word),
            (prefills, _) => {
                format!(
                    "{} and {}",
                    count(prefills, "prefill"),
                    count(self.found.saturating_sub(prefills), "decode step")
                )
            }
        };
        let of_ranks = match (self.processes, self.of_each.filter(|_| prefills == 0)) {
            (..=1, _) => String::new(),
            (processes, Some(_)) => format!(" of each of {}", count(processes, "process")),
            (processes, None) => format!(" of {}", count(processes, "process")),
        };
        let layers = match self.layers {
            0 => String::new(),
            layers if self.found == 1 => format!(" of {}", count(layers, "layer")),
            // The units may have different numbers of them.
            layers if layers % self.found.max(1) == 0 => {
                format!(", averaging {}", count(layers / self.found.max(1), "layer"))
            }
            layers => format!(" with {} in all", count(layers, "layer")),
        };
        format!("{units}{of_ranks}{layers}")
    }
}

impl IterationCounts {
    fn line(&self) -> String {
        let number = |count: i64| thousands(count as f64);
        let each = duration(self.mean_ns);
        let of_ranks = match self.processes {
            1 => String::new(),
            processes => format!(" of {} processes", number(processes)),
        };
        let without = match self.processes_without {
            0 => String::new(),
            1 => ", and the dense work of 1 process without iterations".to_owned(),
            others => format!(", and the dense work of {} processes without iterations", number(others)),
        };
        let iterations = counted(self.found as f64, self.word);
        format!("{} of {iterations}{of_ranks}, {each} each{without}", number(self.chosen))
    }
}

/// Words for readers for an evidence.
pub(crate) fn evidence_words(found_by: &str) -> &'static str {
    EVIDENCE.iter().find(|(known, _)| *known == found_by).map_or("", |(_, words)| words)
}

fn label(kind: &str) -> &'static str {
    KINDS.iter().find(|(known, _)| *known == kind).map_or("other", |(_, label)| label)
}

fn parts_of<'a>(rows: &Rows<'a>) -> Vec<RunPart<'a>> {
    let mut parts: Vec<RunPart<'a>> = Vec::new();
    let mut process = 0;
    for row in rows.places() {
        let number = |column: &str| rows.integer(row, column).unwrap_or_default();
        // The parts of each process are counted from 0.
        if number("part") == 0 {
            process += 1;
        }
        let kind = rows.text(row, "kind").unwrap_or_default();
        let known = |column: &str, words: &[&'static str]| {
            let text = rows.text(row, column);
            words.iter().copied().find(|word| Some(*word) == text)
        };
        parts.push(RunPart {
            process,
            rank: rows.integer(row, "rank"),
            kind,
            unit: known("unit", &UNITS).unwrap_or("iteration"),
            found_by: known("found_by", &EVIDENCE.map(|(word, _)| word)).unwrap_or("kernel_sequence"),
            duration_ns: number("duration_ns"),
            iterations: number("iterations"),
            pause_ns: number("pause_ns"),
            layers: number("layers"),
        });
    }
    parts
}

/// The time of each kind of part over all processes, and its share.
fn shares_of(parts: &[RunPart<'_>]) -> Vec<(&'static str, i64, f64)> {
    let sum = |times: &mut dyn Iterator<Item = i64>| times.fold(0, i64::saturating_add);
    let whole_ns = sum(&mut parts.iter().map(|part| part.duration_ns));
    let pauses_ns = sum(&mut parts.iter().map(|part| part.pause_ns));
    let of = |kind: &'static str| {
        let own = || parts.iter().filter(move |part| part.kind == kind);
        let ns = sum(&mut own().map(|part| part.duration_ns.saturating_sub(part.pause_ns)));
        let ns = if kind == "pause" { ns.saturating_add(pauses_ns) } else { ns };
        (kind, ns, RuleContext::pct(ns, whole_ns))
    };
    KINDS.iter().map(|(kind, _)| of(kind)).filter(|(_, ns, _)| *ns > 0).collect()
}

/// The parts of the processes of the run, without programs next to it if the run has iterations.
fn of_run<'p, 'a>(answers: &Answers, parts: &'p [RunPart<'a>]) -> Vec<&'p RunPart<'a>> {
    let ranks = RunRanks::new(answers);
    let own: Vec<&RunPart<'a>> = parts.iter().filter(|part| ranks.contains(part.rank)).collect();
    if own.iter().any(|part| part.iterations > 0) { own } else { parts.iter().collect() }
}

/// The unit of most processes and the evidence for it; of equals that of the first process.
fn usual_unit(parts: &[&RunPart<'_>]) -> Option<(&'static str, &'static str)> {
    let mut processes: BTreeMap<(&'static str, &'static str), BTreeSet<usize>> = BTreeMap::new();
    for part in parts.iter().filter(|part| part.iterations > 0) {
        processes.entry((part.unit, part.found_by)).or_default().insert(part.process);
    }
    let most = processes.into_iter().max_by_key(|(_, own)| (own.len(), std::cmp::Reverse(own.first().copied())));
    most.map(|(unit, _)| unit)
}

/// The word for the units of some parts: this one, or the neutral one if there are others.
fn word_of(parts: &[&RunPart<'_>], unit: &'static str) -> &'static str {
    let is_same = parts.iter().filter(|part| part.iterations > 0).all(|part| part.unit == unit);
    if is_same { unit } else { UNIT }
}

/// Whether all units of some parts are repetitions, of which no steady part is claimed; not without units.
fn are_repetitions(parts: &[&RunPart<'_>]) -> bool {
    usual_unit(parts).is_some_and(|(unit, _)| word_of(parts, unit) == REPETITION)
}

/// The units of work of the processes of the run.
fn units_of(parts: &[&RunPart<'_>]) -> Option<UnitCounts> {
    let (unit, found_by) = usual_unit(parts)?;
    let sum = |value: &dyn Fn(&RunPart<'_>) -> i64| parts.iter().copied().map(value).fold(0, i64::saturating_add);
    let mut of_process: BTreeMap<usize, i64> = BTreeMap::new();
    for part in parts.iter().filter(|part| part.iterations > 0) {
        *of_process.entry(part.process).or_default() += part.iterations;
    }
    let each = of_process.values().next().copied();
    Some(UnitCounts {
        unit,
        word: word_of(parts, unit),
        found_by,
        of_each: each.filter(|each| of_process.values().all(|count| count == each)),
        processes: of_process.len() as i64,
        found: sum(&|part| part.iterations),
        prefills: sum(&|part| if part.kind == "prefill" { part.iterations } else { 0 }),
        layers: sum(&|part| part.layers),
    })
}

/// The steady part, if it differs from the whole run or has iterations, and is large enough to judge by.
fn steady_view(answers: &Answers, book: &RuleBook, parts: &[RunPart<'_>], of_run: &[&RunPart<'_>]) -> Option<RunView> {
    let threshold = |name: &str| book.get(STEADY_VIEW)?.thresholds.get(name).copied();
    let chosen: Vec<&RunPart<'_>> = parts.iter().filter(|part| part.is_in_view()).collect();
    // Processes with other units may have a steady part.
    let own: Vec<&RunPart<'_>> = of_run.iter().copied().filter(|part| part.is_in_view()).collect();
    if are_repetitions(of_run) || are_repetitions(&own) {
        return None;
    }
    let iterations = iterations_of(of_run, of_run.len() < parts.len());
    let is_all = chosen.len() == parts.len();
    let enough = chosen.iter().any(|part| part.iterations as f64 >= threshold("min_iterations").unwrap_or(f64::NAN));
    if is_all && iterations.is_none() || iterations.is_some() && !enough {
        return None;
    }
    let view = view_of(answers, book, View::Steady)?;
    let busy_ns = |view: View| {
        let rows = answers.rows(time_question().of_view(view));
        rows.sum(rows.places(), "busy_ns")
    };
    let pct = RuleContext::pct(busy_ns(View::Steady), busy_ns(View::WholeRun));
    let (id, label) = if iterations.is_some() { ("steady", "Steady") } else { ("dense", "Dense work") };
    (pct >= threshold("min_busy_pct")?).then_some(RunView { id, label, iterations, ..view })
}

/// Iterations in the view of the processes of the run, next to which there may be others.
fn iterations_of(parts: &[&RunPart<'_>], has_others: bool) -> Option<IterationCounts> {
    let chosen: Vec<&RunPart<'_>> = parts.iter().copied().filter(|part| part.is_in_view()).collect();
    let (unit, _) = usual_unit(&chosen)?;
    let with = || chosen.iter().filter(|part| part.iterations > 0);
    let first = with().next()?;
    let sum = with().fold(0_i64, |sum, part| sum.saturating_add(part.iterations));
    let time_ns = with().fold(0_i64, |sum, part| sum.saturating_add(part.duration_ns));
    let pause_ns = with().fold(0_i64, |sum, part| sum.saturating_add(part.pause_ns));
    let is_of_such = |part: &&&RunPart<'_>| with().any(|other| other.process == part.process);
    // Findings that scale by these are about all GPUs.
    let is_same = !has_others && chosen.iter().all(|part| part.iterations == first.iterations);
    Some(IterationCounts {
        unit,
        word: word_of(&chosen, unit),
        chosen: sum,
        found: parts.iter().filter(is_of_such).fold(0_i64, |sum, part| sum.saturating_add(part.iterations)),
        processes: with().count() as i64,
        processes_without: (chosen.len() - with().count()) as i64,
        of_each: is_same.then_some(first.iterations),
        mean_ns: time_ns.saturating_sub(pause_ns) as f64 / sum.max(1) as f64,
        every_ns: time_ns as f64 / sum.max(1) as f64,
        has_others,
    })
}

/// Whether copies are recorded, in whatever part of the run.
fn has_copies(answers: &Answers) -> bool {
    [View::WholeRun, View::Steady].into_iter().any(|view| {
        let rows = answers.rows(time_question().of_view(view));
        rows.sum(rows.places(), "copy_ns") > 0
    })
}

/// Use of a view by the GPUs; `None` if none worked.
fn view_of(answers: &Answers, book: &RuleBook, view: View) -> Option<RunView> {
    let rows = answers.rows(time_question().of_view(view));
    let spans = Spans::new(answers, view, book.get(BROKEN_SPAN));
    let spans_ns = spans.total_ns();
    let share = |column: &str| {
        let left_out_ns = if column == "idle_ns" { spans.all_left_out_ns() } else { 0 };
        RuleContext::pct(rows.sum(rows.places(), column).saturating_sub(left_out_ns).max(0), spans_ns).min(100.0)
    };
    (spans_ns > 0).then(|| RunView {
        id: "whole_run",
        label: "Whole run",
        view,
        span_ns: spans.longest_ns().unwrap_or_default(),
        gpus: spans.gpus(),
        shares: SHARES.map(|(id, column)| (id, share(column))).to_vec(),
        has_copies: has_copies(answers),
        iterations: None,
        units: None,
        parts: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_several_kinds_have_no_name_of_one() {
        let of = |units: &[(&'static str, i64)]| {
            let part = |(process, &(unit, iterations)): (usize, &(&'static str, i64))| RunPart {
                process,
                rank: None,
                kind: "steady",
                unit,
                found_by: "kernel_sequence",
                duration_ns: 10,
                iterations,
                pause_ns: 0,
                layers: 0,
            };
            let parts: Vec<RunPart<'_>> = units.iter().enumerate().map(part).collect();
            let parts: Vec<&RunPart<'_>> = parts.iter().collect();
            (units_of(&parts).map(|units| units.line()), are_repetitions(&parts))
        };
        let line = |text: &str| Some(format!(", {text}"));
        let same = of(&[(REPETITION, 4), (REPETITION, 3), ("iteration", 0)]);
        assert_eq!(same, (line("7 repetitions of 2 processes (by the sequence of kernels)"), true));
        let mixed = of(&[(REPETITION, 4), (REPETITION, 3), ("step", 2)]);
        assert_eq!(mixed, (line("9 units of 3 processes"), false));
        assert_eq!(of(&[("iteration", 0)]), (None, false));
    }
}
