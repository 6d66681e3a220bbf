//! Counter passes of one run, which rocprofv3 writes to folders `pass_N` or `pmc_N`: repetitions of the same processes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use wavesieve_model::schema::facts::ProcessFacts;

/// Maximum number of digits of a pass number; a longer number is not a pass.
const LONGEST_NUMBER: usize = 6;
/// Words before the number: rocprofv3 writes `pass` for job files and `--pmc` groups, `pmc` for text files.
const WORDS: [&str; 2] = ["pass", "pmc"];

/// The warning about passes with missing processes.
pub(super) const UNEVEN_PASSES: &str = "counter passes of one run have other numbers of processes: they are matched in the order of their \
     paths, which may be wrong; set the ranks with --rank-from REGEX";

/// The note about processes that are passes.
pub(super) fn about_passes(repeated: usize) -> Option<String> {
    (repeated > 0).then(|| {
        format!(
            "{repeated} {} by the names of folders: only counters are taken from {}; override with --rank-from REGEX",
            if repeated == 1 { "process is a counter pass" } else { "processes are counter passes" },
            if repeated == 1 { "it" } else { "them" },
        )
    })
}

/// The runs among the processes of a trace that were collected in several passes.
pub(super) struct CounterPasses {
    /// The number of the pass that each process belongs to.
    numbers: Vec<Option<i64>>,
    /// The folder of these passes, as a dense number.
    folders: Vec<Option<usize>>,
    runs: Vec<Run>,
}

/// Repetitions of one run, with the processes of each in the order of their paths: a trace without counters if there is one, then the
/// passes by number.
struct Run {
    repetitions: Vec<Vec<usize>>,
}

/// Processes that are repetitions of one process.
pub(super) struct Repeated {
    /// The process of an earlier repetition that each process repeats.
    pub first: Vec<Option<usize>>,
    /// Runs whose repetitions have different numbers of processes, so that some matches are guesses.
    pub uneven: usize,
}

impl CounterPasses {
    /// The runs of processes, which are sorted by path.
    pub(super) fn find(order: &[&ProcessFacts]) -> Self {
        let named: Vec<Option<(&Path, i64)>> = order.iter().map(|facts| pass_of(facts)).collect();
        let with_counters: BTreeSet<(&Path, i64)> = order
            .iter()
            .zip(&named)
            .filter(|(facts, _)| facts.carries_counters())
            .filter_map(|(_, name)| *name)
            .collect();
        let named: Vec<Option<(&Path, i64)>> =
            named.into_iter().map(|name| name.filter(|name| with_counters.contains(name))).collect();
        let bases: BTreeSet<&Path> = with_counters.iter().map(|(base, _)| *base).collect();
        let is_plain = |at: &usize| {
            let facts = order.get(*at).filter(|facts| !facts.carries_counters() && !facts.is_thread_trace);
            facts.is_some() && named.get(*at).is_some_and(Option::is_none)
        };
        let plain: Vec<(usize, &Path)> =
            (0..order.len()).filter(is_plain).filter_map(|at| Some((at, Path::new(&order.get(at)?.path)))).collect();
        let traces = traces_of(&bases, &plain);
        let run = |base: &Path| {
            let passes = with_counters.iter().filter(|(other, _)| *other == base);
            let members = |pass| (0..order.len()).filter(|at| named.get(*at) == Some(&Some(pass))).collect();
            let trace = traces.get(base).filter(|trace| !trace.is_empty()).cloned();
            Run { repetitions: trace.into_iter().chain(passes.map(|pass| members(*pass))).collect() }
        };
        let folder = |base: &Path| bases.iter().position(|other| *other == base);
        Self {
            numbers: named.iter().map(|name| name.map(|(_, number)| number)).collect(),
            folders: named.iter().map(|name| name.and_then(|(base, _)| folder(base))).collect(),
            runs: bases.iter().map(|base| run(base)).collect(),
        }
    }

    /// The folder and number of the pass that a process belongs to.
    pub(super) fn pass(&self, at: usize) -> Option<(usize, i64)> {
        Some(((*self.folders.get(at)?)?, self.number(at)?))
    }

    /// The number of the pass that a process belongs to.
    pub(super) fn number(&self, at: usize) -> Option<i64> {
        *self.numbers.get(at)?
    }

    /// Whether a process does not repeat one of an earlier pass or trace.
    pub(super) fn is_first(&self, at: usize) -> bool {
        let firsts = || self.runs.iter().filter_map(|run| run.repetitions.first());
        self.number(at).is_none() || firsts().any(|members| members.contains(&at))
    }

    /// Matches the processes of all repetitions: by the ranks that they claim, otherwise in the order of their paths on each node. A
    /// process without a claim takes the claim of its repetition.
    pub(super) fn repeated(&self, order: &[&ProcessFacts], claims: &mut [Option<i64>]) -> Repeated {
        let mut repeated = Repeated { first: vec![None; order.len()], uneven: 0 };
        for run in &self.runs {
            let mut known: Vec<usize> = Vec::new();
            let mut is_uneven = false;
            for members in &run.repetitions {
                if known.is_empty() {
                    known.clone_from(members);
                    continue;
                }
                let matched = matched(&known, members, order, claims);
                let claim = |at: usize| claims.get(at).copied().flatten();
                let is_guess =
                    |(first, again): &(usize, usize)| claim(*first).is_none() || claim(*first) != claim(*again);
                // A process may be missing anywhere.
                is_uneven |= members.len() != known.len() && matched.iter().any(is_guess);
                for (first, again) in &matched {
                    let claim = claims.get(*again).copied().flatten();
                    if let Some(own) = claims.get_mut(*first) {
                        *own = own.or(claim);
                    }
                    if let Some(place) = repeated.first.get_mut(*again) {
                        *place = Some(*first);
                    }
                }
                let others = members.iter().filter(|at| !matched.iter().any(|(_, again)| again == *at));
                known.extend(others.copied().collect::<Vec<usize>>());
            }
            repeated.uneven += usize::from(is_uneven);
        }
        repeated
    }
}

/// Pairs of a known process and its repetition.
fn matched(known: &[usize], members: &[usize], order: &[&ProcessFacts], claims: &[Option<i64>]) -> Vec<(usize, usize)> {
    let claim = |at: usize| claims.get(at).copied().flatten();
    let mut free: Vec<usize> = known.to_vec();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let mut rest: Vec<usize> = Vec::new();
    for at in members {
        let same = claim(*at).and_then(|rank| free.iter().position(|first| claim(*first) == Some(rank)));
        match same {
            Some(place) => pairs.push((free.remove(place), *at)),
            None => rest.push(*at),
        }
    }
    let machine = |at: usize| order.get(at).map_or("", |facts| facts.machine_key.as_str());
    let machines = |all: &[usize]| -> BTreeSet<&str> { all.iter().map(|at| machine(*at)).collect() };
    let by_machine = machines(&free) == machines(&rest);
    for at in rest {
        let fits = |first: &usize| {
            (claim(*first).is_none() || claim(at).is_none()) && (!by_machine || machine(*first) == machine(at))
        };
        if let Some(place) = free.iter().position(fits) {
            pairs.push((free.remove(place), at));
        }
    }
    pairs
}

/// The traces without counters that belong to the passes in each folder: the traces below the nearest ancestor directory that has any,
/// except those that are nearer to other passes.
fn traces_of<'a>(bases: &BTreeSet<&'a Path>, plain: &[(usize, &Path)]) -> BTreeMap<&'a Path, Vec<usize>> {
    let nearest = |base: &&'a Path| {
        let has_trace = |above: &&Path| plain.iter().any(|(_, path)| path.starts_with(above));
        Some((*base, base.ancestors().find(has_trace)?))
    };
    let nearest: BTreeMap<&Path, &Path> = bases.iter().filter_map(nearest).collect();
    let members = |above: &Path| {
        let is_nearer = |path: &Path| {
            let mut others = nearest.values().filter(|other| **other != above && other.starts_with(above));
            others.any(|other| path.starts_with(other))
        };
        let of_directory = plain.iter().filter(|(_, path)| path.starts_with(above) && !is_nearer(path));
        of_directory.map(|(at, _)| *at).collect()
    };
    nearest.iter().map(|(base, above)| (*base, members(above))).collect()
}

/// The directory of the folders or files of the passes, and the pass number of a process.
fn pass_of(facts: &ProcessFacts) -> Option<(&Path, i64)> {
    if facts.is_thread_trace {
        return None;
    }
    let path = Path::new(&facts.path);
    let name = |path: &Path| match path.components().next_back()? {
        Component::Normal(name) => Some(name.to_string_lossy().to_ascii_lowercase()),
        _ => None,
    };
    let of_folder =
        |folder: &'_ Path| number_in(&name(folder)?).filter(|(_, rest)| rest.is_empty()).map(|(number, _)| number);
    let folders = || path.ancestors().skip(1);
    let in_folder = folders().find_map(|folder| Some((folder.parent()?, of_folder(folder)?)));
    let in_file = || {
        let name = name(path)?;
        let (number, rest) = number_in(&name)?;
        (rest.is_empty() || rest.starts_with(['_', '.', '-'])).then_some((path.parent()?, number))
    };
    in_folder.or_else(in_file)
}

/// The number after the word for a pass at the start of a name, and the rest of the name.
fn number_in(name: &str) -> Option<(i64, &str)> {
    let rest = WORDS.iter().find_map(|word| name.strip_prefix(word))?;
    let rest = rest.strip_prefix(['_', '-', '.', '=', ' ']).unwrap_or(rest);
    let (digits, rest) = rest.split_at_checked(rest.bytes().take_while(u8::is_ascii_digit).count())?;
    if digits.len() > LONGEST_NUMBER { None } else { Some((digits.parse().ok()?, rest)) }
}
