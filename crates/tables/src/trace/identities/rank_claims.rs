//! Ranks: the claims of each process, the accepted claims, and the ranks of other processes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::Regex;

use super::counter_passes::CounterPasses;
use super::path_ranks::rank_in_names;
use wavesieve_model::schema::facts::ProcessFacts;

/// Relations between processes.
pub(super) struct Related {
    /// Counter passes of other processes.
    pub passes: CounterPasses,
    /// For each process, the process with an earlier session of it.
    pub sessions: Vec<Option<usize>>,
}

impl Related {
    /// Whether a process does not take its rank from another one.
    fn is_first(&self, at: usize) -> bool {
        self.passes.is_first(at) && self.is_first_session(at)
    }

    fn is_first_session(&self, at: usize) -> bool {
        self.sessions.get(at).is_none_or(Option::is_none)
    }
}

/// The rank that an expression finds in a path: its first group, otherwise the whole match.
pub(super) fn rank_in_path(regex: &Regex, path: &str) -> Option<i64> {
    let captures = regex.captures(path)?;
    captures.get(1).or_else(|| captures.get(0))?.as_str().parse().ok()
}

/// Ranks that datasets and recorded environments claim, without unreliable environments.
pub(super) fn recorded_claims(
    order: &[(usize, ProcessFacts)],
    related: &Related,
    warnings: &mut Vec<String>,
) -> Vec<Option<i64>> {
    let of_environment = |facts: &ProcessFacts| if facts.stored_rank.is_some() { None } else { facts.environment_rank };
    let claims: Vec<Option<i64>> = order.iter().map(|(_, facts)| of_environment(facts)).collect();
    let disputed = claimed_again(order, related, &claims).pop_first();
    if let Some((rank, count)) = disputed {
        warnings.push(format!(
            "{count} processes claim rank {rank} by their recorded environment, so it is ignored and ranks \
             follow the paths; set them with --rank-from REGEX"
        ));
    }
    let trusted = |claim: Option<i64>| claim.filter(|_| disputed.is_none());
    order.iter().zip(claims).map(|((_, facts), claim)| facts.stored_rank.or(trusted(claim))).collect()
}

/// Adds claims from the names of files and folders for processes without other claims. Names are used only if every such process has one,
/// and no rank is claimed twice.
pub(super) fn claims_of_names(
    order: &[(usize, ProcessFacts)],
    related: &Related,
    claims: Vec<Option<i64>>,
    warnings: &mut Vec<String>,
    notes: &mut Vec<String>,
) -> Vec<Option<i64>> {
    let named: Vec<Option<i64>> = order
        .iter()
        .zip(&claims)
        .map(|((_, facts), claim)| if claim.is_none() { rank_in_names(&facts.path) } else { None })
        .collect();
    let of_processes = || order.iter().zip(claims.iter().zip(&named)).filter(|((_, facts), _)| !facts.is_thread_trace);
    let count = of_processes().filter(|(_, (_, named))| named.is_some()).count();
    // Other processes have the ranks of the processes that they repeat or continue.
    let is_unnamed = |at: usize| {
        let is_without = |names: &[Option<i64>]| names.get(at).is_none_or(Option::is_none);
        let is_process = order.get(at).is_some_and(|(_, facts)| !facts.is_thread_trace);
        is_process && related.is_first(at) && is_without(&claims) && is_without(&named)
    };
    if count == 0 || (0..order.len()).any(is_unnamed) {
        return claims;
    }
    let all: Vec<Option<i64>> = claims.iter().zip(&named).map(|(claim, named)| claim.or(*named)).collect();
    let mut disputed = claimed_again(order, related, &all).into_iter();
    if let Some((rank, claimed)) = disputed.find(|(rank, _)| named.contains(&Some(*rank))) {
        warnings.push(format!(
            "{claimed} processes claim rank {rank} by the names of their files and folders, so the names are ignored and \
             ranks follow the order of the paths; set them with --rank-from REGEX"
        ));
        return claims;
    }
    let ranks = if count == 1 { "rank of 1 process" } else { &format!("ranks of {count} processes") };
    notes.push(format!("{ranks} inferred from the names of files and folders; override with --rank-from REGEX"));
    all
}

/// The ranks that are claimed by several processes, which are not counter passes of one another, and the number of these processes.
fn claimed_again(order: &[(usize, ProcessFacts)], related: &Related, claims: &[Option<i64>]) -> BTreeMap<i64, usize> {
    let mut claimed: BTreeMap<(Option<(usize, i64)>, i64), usize> = BTreeMap::new();
    for (at, ((_, facts), claim)) in order.iter().zip(claims).enumerate() {
        let pass = related.passes.pass(at);
        let counts = facts.has_counters == pass.is_some() && !facts.is_thread_trace && related.is_first_session(at);
        if let (Some(rank), true) = (claim, counts) {
            *claimed.entry((pass, *rank)).or_insert(0) += 1;
        }
    }
    claimed.into_iter().filter(|(_, count)| *count > 1).map(|((_, rank), count)| (rank, count)).collect()
}

/// Gives every process a rank: its claim, otherwise the next number after the highest claim, in the given order. A process that repeats
/// another, or continues it, gets its rank.
///
/// A thread trace does not identify its process. It gets the rank of the processes below the nearest directory above
/// it, if they have only one. Otherwise all thread traces of a directory share a rank.
pub(super) fn fill_ranks(
    order: &[(usize, ProcessFacts)],
    claims: &[Option<i64>],
    repeated: &[Option<usize>],
) -> Vec<i64> {
    let mut next = claims.iter().flatten().max().map_or(0, |highest| highest.saturating_add(1));
    let mut take_next = || {
        let rank = next;
        next = next.saturating_add(1);
        rank
    };
    let mut ranks: Vec<Option<i64>> = claims.to_vec();
    let all = || order.iter().map(|(_, facts)| facts);
    let firsts = ranks.iter_mut().zip(repeated).zip(all());
    for ((rank, _), _) in firsts.filter(|((_, first), facts)| first.is_none() && !facts.is_thread_trace) {
        rank.get_or_insert_with(&mut take_next);
    }
    for at in 0..ranks.len() {
        // A session of a pass continues a process that repeats another; cycles of more steps do not occur.
        let origin = |at: usize| repeated.get(at).copied().flatten();
        let first = (0..ranks.len()).try_fold(at, |at, _| origin(at).ok_or(at)).unwrap_or_else(std::convert::identity);
        let of_first = ranks.get(first).copied().flatten();
        if let Some(rank) = ranks.get_mut(at) {
            *rank = rank.or(of_first);
        }
    }
    let known: Vec<(&Path, i64)> = all()
        .zip(&ranks)
        .filter(|(facts, _)| !facts.is_thread_trace)
        .filter_map(|(facts, rank)| Some((Path::new(&facts.path), (*rank)?)))
        .collect();
    let mut of_directories: BTreeMap<Option<&Path>, i64> = BTreeMap::new();
    for (rank, facts) in ranks.iter_mut().zip(all()) {
        let path = Path::new(&facts.path);
        let nearby = || rank_nearby(path, &known);
        let rest = || *of_directories.entry(path.parent()).or_insert_with(&mut take_next);
        *rank = Some(rank.or_else(nearby).unwrap_or_else(rest));
    }
    ranks.into_iter().map(Option::unwrap_or_default).collect()
}

/// The rank of the processes below the nearest directory above a file, if they have only one.
fn rank_nearby(path: &Path, known: &[(&Path, i64)]) -> Option<i64> {
    let below = |directory: &Path| -> BTreeSet<i64> {
        known.iter().filter(|(path, _)| path.starts_with(directory)).map(|(_, rank)| *rank).collect()
    };
    let ranks = path.ancestors().skip(1).map(below).find(|ranks| !ranks.is_empty())?;
    ranks.first().copied().filter(|_| ranks.len() == 1)
}
