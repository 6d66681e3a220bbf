//! Processes, ranks, nodes, devices and roles of the logical trace, assigned from what the sources report.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::Regex;

use super::path_ranks::rank_in_names;
use crate::schema::facts::{ProcessFacts, Role};
use crate::schema::process::{Clock, Gpu, Process};
use crate::text::natural_order::natural_key;

/// Result of [`assign`]: processes in order of `process`, with the position each had in the input.
pub(crate) struct Assignment {
    /// The processes and the input position of each.
    pub processes: Vec<(usize, Process)>,
    /// Things the user should know, such as an environment that could not be trusted.
    pub warnings: Vec<String>,
    /// Where ranks come from that no trace records.
    pub notes: Vec<String>,
}

/// Numbers the processes of a trace.
///
/// Ranks come from `rank_from` applied to the path (its first group, otherwise the whole match), otherwise from a dataset, otherwise
/// from the recorded environment unless two processes that are no counter passes of one another claim the same rank,
/// else from the word `rank` in the names of files and folders under the same condition, otherwise from the natural order of the
/// paths. The result does not depend on the order of `facts`.
pub(crate) fn assign(facts: Vec<ProcessFacts>, rank_from: Option<&Regex>) -> Assignment {
    let (mut warnings, mut notes) = (Vec::new(), Vec::new());
    let mut order: Vec<(usize, ProcessFacts)> = facts.into_iter().enumerate().collect();
    order.sort_by_cached_key(|(_, facts)| {
        // Rows that name no process come after those of the known ones.
        (natural_key(&facts.path), facts.guid.clone(), facts.pid < 0, facts.pid, facts.content_hash.clone())
    });

    let claims: Vec<Option<i64>> =
        order.iter().map(|(_, facts)| rank_from.and_then(|regex| rank_in_path(regex, &facts.path))).collect();
    let claims = if rank_from.is_some() {
        let unmatched = claims.iter().filter(|claim| claim.is_none()).count();
        if unmatched > 0 {
            warnings.push(format!(
                "--rank-from matches no number in {unmatched} of {} paths; these get the next ranks after the highest",
                claims.len()
            ));
        }
        claims
    } else {
        let recorded = recorded_claims(&order, &mut warnings);
        claims_of_names(&order, recorded, &mut warnings, &mut notes)
    };

    let unranked = |counters: bool| {
        let unclaimed = order.iter().zip(&claims).filter(|(_, claim)| claim.is_none());
        let unclaimed = unclaimed.filter(|((_, facts), _)| !facts.is_thread_trace);
        unclaimed.filter(|((_, facts), _)| carries_counters(facts) == counters).count()
    };
    if let (1.., 1..) = (unranked(true), unranked(false)) {
        warnings.push(format!(
            "{} of the processes without a known rank have counters: each counts as a separate rank, kernels included; if \
             they are counter passes of the others, set the ranks with --rank-from REGEX",
            unranked(true)
        ));
    }
    let unclaimed = order.iter().zip(&claims).filter(|((_, facts), claim)| claim.is_none() && !facts.is_thread_trace);
    let unclaimed: BTreeSet<&str> = unclaimed.map(|((_, facts), _)| facts.path.as_str()).collect();
    // Warnings name the option already.
    if unclaimed.len() > 1 && warnings.is_empty() {
        notes.push(format!(
            "{} traces record no rank: their ranks follow the order of the paths; set them with --rank-from REGEX",
            unclaimed.len()
        ));
    }
    let ranks = fill_ranks(&order, &claims);
    let mut ranked: Vec<(usize, ProcessFacts, i64)> =
        order.into_iter().zip(ranks).map(|((position, facts), rank)| (position, facts, rank)).collect();
    name_nodes(&mut ranked);
    ranked.sort_by_cached_key(|(_, facts, rank)| {
        let identity = facts.guid.clone().unwrap_or_else(|| facts.content_hash.clone());
        // Processes have the same numbers without the thread traces next to them.
        (*rank, facts.is_thread_trace, identity, facts.pid, natural_key(&facts.path))
    });

    let is_plain = |facts: &ProcessFacts| !carries_counters(facts) && !facts.is_thread_trace;
    let plain_ranks: BTreeSet<i64> =
        ranked.iter().filter(|(_, facts, _)| is_plain(facts)).map(|(_, _, rank)| *rank).collect();
    let mut nodes: BTreeMap<String, i64> = BTreeMap::new();
    let mut devices: BTreeMap<(i64, String), i64> = BTreeMap::new();
    let mut passes: BTreeMap<i64, i64> = BTreeMap::new();
    let mut processes = Vec::with_capacity(ranked.len());
    for (number, (position, facts, rank)) in ranked.into_iter().enumerate() {
        let next_node = nodes.len() as i64;
        let node = *nodes.entry(facts.machine_key.clone()).or_insert(next_node);
        let counters = carries_counters(&facts);
        let role = match counters && plain_ranks.contains(&rank) {
            _ if facts.is_thread_trace => Role::ThreadTrace,
            true => Role::Counters,
            false => Role::Trace,
        };
        let pass = if counters {
            let next = passes.entry(rank).or_insert(0);
            let pass = *next;
            *next = next.saturating_add(1).saturating_add(facts.replay_passes.max(0));
            pass
        } else {
            0
        };
        let gpus = number_gpus(&facts, node, &mut devices);
        let clock = Clock { number: node, ..Clock::default() };
        processes.push((position, Process { process: number as i64, rank, node, role, pass, clock, gpus, facts }));
    }
    Assignment { processes, warnings, notes }
}

fn carries_counters(facts: &ProcessFacts) -> bool {
    facts.stored_role.map_or(facts.has_counters, |role| role == Role::Counters || facts.has_counters)
}

fn rank_in_path(regex: &Regex, path: &str) -> Option<i64> {
    let captures = regex.captures(path)?;
    captures.get(1).or_else(|| captures.get(0))?.as_str().parse().ok()
}

/// Ranks that datasets and recorded environments claim, with untrustworthy environments left out.
fn recorded_claims(order: &[(usize, ProcessFacts)], warnings: &mut Vec<String>) -> Vec<Option<i64>> {
    let of_environment = |facts: &ProcessFacts| if facts.stored_rank.is_some() { None } else { facts.environment_rank };
    let claims: Vec<Option<i64>> = order.iter().map(|(_, facts)| of_environment(facts)).collect();
    let disputed = claimed_again(order, &claims).pop_first();
    if let Some((rank, count)) = disputed {
        warnings.push(format!(
            "{count} processes claim rank {rank} by their recorded environment, so it is ignored and ranks \
             follow the paths; set them with --rank-from REGEX"
        ));
    }
    let trusted = |claim: Option<i64>| claim.filter(|_| disputed.is_none());
    order.iter().zip(claims).map(|((_, facts), claim)| facts.stored_rank.or(trusted(claim))).collect()
}

/// The claims, with those of the names of files and folders where nothing else is known of a process: if every such process has one,
/// and no rank is claimed twice.
fn claims_of_names(
    order: &[(usize, ProcessFacts)],
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
    if count == 0 || of_processes().any(|(_, (claim, named))| claim.is_none() && named.is_none()) {
        return claims;
    }
    let all: Vec<Option<i64>> = claims.iter().zip(&named).map(|(claim, named)| claim.or(*named)).collect();
    if let Some((rank, claimed)) = claimed_again(order, &all).into_iter().find(|(rank, _)| named.contains(&Some(*rank)))
    {
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

/// The ranks that several processes claim which are no counter passes, and how many do.
fn claimed_again(order: &[(usize, ProcessFacts)], claims: &[Option<i64>]) -> BTreeMap<i64, usize> {
    let mut plain: BTreeMap<i64, usize> = BTreeMap::new();
    let is_plain = |facts: &ProcessFacts| !facts.has_counters && !facts.is_thread_trace;
    for (_, claim) in order.iter().zip(claims).filter(|((_, facts), _)| is_plain(facts)) {
        if let Some(rank) = claim {
            *plain.entry(*rank).or_insert(0) += 1;
        }
    }
    plain.retain(|_, count| *count > 1);
    plain
}

/// Gives every process a rank: its claim, otherwise the next number after the highest claim, in the given order.
/// Processes of one capture series (a counter pass next to its trace) have no common claim here, so each gets its own.
///
/// A thread trace does not identify its process. It gets the rank of the processes below the nearest directory above
/// it, if they have only one. Otherwise all thread traces of a directory share a rank.
fn fill_ranks(order: &[(usize, ProcessFacts)], claims: &[Option<i64>]) -> Vec<i64> {
    let mut next = claims.iter().flatten().max().map_or(0, |highest| highest.saturating_add(1));
    let mut take_next = || {
        let rank = next;
        next = next.saturating_add(1);
        rank
    };
    let mut ranks: Vec<Option<i64>> = claims.to_vec();
    let all = || order.iter().map(|(_, facts)| facts);
    for (rank, _) in ranks.iter_mut().zip(all()).filter(|(_, facts)| !facts.is_thread_trace) {
        rank.get_or_insert_with(&mut take_next);
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

/// Thread traces ran on the machine of the processes of their rank.
fn name_nodes(ranked: &mut [(usize, ProcessFacts, i64)]) {
    let named = ranked.iter().filter(|(_, facts, _)| !facts.is_thread_trace);
    let nodes: BTreeMap<i64, String> = named.rev().map(|(_, facts, rank)| (*rank, facts.machine_key.clone())).collect();
    for (_, facts, rank) in ranked.iter_mut().filter(|(_, facts, _)| facts.is_thread_trace) {
        if let (true, Some(node)) = (facts.machine_key.is_empty(), nodes.get(rank)) {
            facts.machine_key.clone_from(node);
        }
    }
}

/// GPU indexes of one process, by the recorded index among GPUs where it is complete and distinct, otherwise by the
/// absolute index.
fn number_gpus(facts: &ProcessFacts, node: i64, devices: &mut BTreeMap<(i64, String), i64>) -> BTreeMap<i64, Gpu> {
    let mut gpus: Vec<_> = facts.agents.iter().filter(|agent| agent.is_gpu()).collect();
    let recorded: BTreeSet<i64> = gpus.iter().filter_map(|agent| agent.type_index).collect();
    let use_recorded = recorded.len() == gpus.len();
    gpus.sort_by_key(|agent| {
        let index = if use_recorded { agent.type_index } else { agent.absolute_index };
        (index.unwrap_or(i64::MAX), agent.agent_id)
    });
    let mut numbered = BTreeMap::new();
    for (gpu, agent) in gpus.into_iter().enumerate() {
        let next = devices.len() as i64;
        let device = *devices.entry((node, agent.device_key())).or_insert(next);
        numbered.insert(agent.agent_id, Gpu { gpu: gpu as i64, device });
    }
    numbered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(path: &str, environment_rank: Option<i64>, has_counters: bool) -> ProcessFacts {
        ProcessFacts {
            path: path.into(),
            content_hash: path.into(),
            environment_rank,
            has_counters,
            ..ProcessFacts::default()
        }
    }

    fn ranks(assignment: &Assignment) -> Vec<(usize, i64)> {
        assignment.processes.iter().map(|(position, process)| (*position, process.rank)).collect()
    }

    #[test]
    fn paths_are_ordered_by_their_numbers() {
        let assignment = assign(vec![facts("r10.db", None, false), facts("r2.db", None, false)], None);
        assert_eq!(ranks(&assignment), [(1, 0), (0, 1)]);
    }

    #[test]
    fn the_environment_names_the_rank() {
        let assignment = assign(vec![facts("a", Some(7), false), facts("b", Some(3), false)], None);
        assert_eq!(ranks(&assignment), [(1, 3), (0, 7)]);
        assert!(assignment.warnings.is_empty());
    }

    #[test]
    fn a_rank_claimed_twice_makes_the_environment_useless() {
        let assignment = assign(vec![facts("a", Some(5), false), facts("b", Some(5), false)], None);
        assert_eq!(ranks(&assignment), [(0, 0), (1, 1)]);
        assert_eq!(assignment.warnings.len(), 1);
    }

    #[test]
    fn a_counter_pass_shares_the_rank_of_its_trace() {
        let assignment = assign(vec![facts("a", Some(5), false), facts("b", Some(5), true)], None);
        assert_eq!(ranks(&assignment), [(0, 5), (1, 5)]);
        let roles: Vec<Role> = assignment.processes.iter().map(|(_, process)| process.role).collect();
        assert_eq!(roles, [Role::Trace, Role::Counters]);
    }

    #[test]
    fn replays_have_pass_numbers_of_their_own() {
        let replayed = ProcessFacts { replay_passes: 2, ..facts("b", Some(5), true) };
        let assignment = assign(vec![facts("a", Some(5), true), replayed, facts("c", Some(5), true)], None);
        let passes: Vec<i64> = assignment.processes.iter().map(|(_, process)| process.pass).collect();
        assert_eq!(passes, [0, 1, 4]);
    }

    #[test]
    fn counters_alone_are_a_trace() {
        let assignment = assign(vec![facts("a", None, true)], None);
        assert_eq!(assignment.processes.first().map(|(_, process)| process.role), Some(Role::Trace));
    }

    #[test]
    fn a_thread_trace_has_the_rank_of_what_is_near() {
        let thread_trace = |path: &str| ProcessFacts { is_thread_trace: true, ..facts(path, None, false) };
        let found = |all: Vec<ProcessFacts>| -> Vec<(usize, i64, Role)> {
            let assignment = assign(all, None);
            assert!(assignment.warnings.is_empty(), "{:?}", assignment.warnings);
            let of = |(position, process): &(usize, Process)| (*position, process.rank, process.role);
            assignment.processes.iter().map(of).collect()
        };
        let (trace, thread) = (Role::Trace, Role::ThreadTrace);
        let alone = vec![thread_trace("d/b.csv"), thread_trace("d/a.csv"), thread_trace("e/a.csv")];
        assert_eq!(found(alone), [(1, 0, thread), (0, 0, thread), (2, 1, thread)]);
        let nearby = vec![thread_trace("d/a.csv"), facts("d/host/x.db", Some(3), false)];
        assert_eq!(found(nearby), [(1, 3, trace), (0, 3, thread)]);
        let two = vec![facts("d/1.db", None, false), facts("d/2.db", None, false), thread_trace("d/0.csv")];
        assert_eq!(found(two), [(0, 0, trace), (1, 1, trace), (2, 2, thread)]);
        // It does not make a lone trace with counters a pass.
        assert_eq!(found(vec![facts("d/1.db", None, true), thread_trace("d/0.csv")]), [(0, 0, trace), (1, 0, thread)]);
    }

    #[test]
    fn a_thread_trace_ran_on_the_machine_of_its_rank() {
        let database = ProcessFacts { machine_key: "m".into(), ..facts("d/1.db", None, false) };
        let thread_trace = ProcessFacts { is_thread_trace: true, ..facts("d/0.csv", None, false) };
        let nodes: Vec<i64> =
            assign(vec![thread_trace, database], None).processes.iter().map(|(_, p)| p.node).collect();
        assert_eq!(nodes, [0, 0]);
    }

    #[test]
    fn names_of_files_and_folders_tell_ranks() {
        let (four, five) = (facts("rank4_81.db", None, false), facts("rank5_80.db", None, false));
        let assignment = assign(vec![five.clone(), four.clone()], None);
        assert_eq!(ranks(&assignment), [(1, 4), (0, 5)]);
        assert!(assignment.warnings.is_empty());
        assert!(assignment.notes[0].starts_with("ranks of 2 processes"), "{:?}", assignment.notes);
        // A counter pass has the rank of its trace.
        let pass = facts("rank4_pmc.db", None, true);
        assert_eq!(ranks(&assign(vec![four.clone(), pass], None)), [(0, 4), (1, 4)]);
        // What is recorded, or named by hand, comes before.
        assert_eq!(ranks(&assign(vec![facts("rank4.db", Some(7), false)], None)), [(0, 7)]);
        let stored = ProcessFacts { stored_rank: Some(6), ..four.clone() };
        assert_eq!(ranks(&assign(vec![stored], None)), [(0, 6)]);
        let regex = Regex::new(r"_(\d+)").unwrap();
        let assignment = assign(vec![four.clone(), five], Some(&regex));
        assert_eq!((ranks(&assignment), assignment.notes.len()), (vec![(1, 80), (0, 81)], 0));
        // An environment that cannot be trusted leaves it to the names.
        let inherited = vec![facts("rank4.db", Some(0), false), facts("rank5.db", Some(0), false)];
        assert_eq!(ranks(&assign(inherited, None)), [(0, 4), (1, 5)]);
        let mixed = vec![facts("rank4.db", Some(4), false), facts("rank9.db", None, false)];
        assert_eq!(ranks(&assign(mixed, None)), [(0, 4), (1, 9)]);
    }

    #[test]
    fn names_that_collide_or_lack_a_rank_are_not_used() {
        let twice = assign(vec![facts("rank4/a.db", None, false), facts("rank4/b.db", None, false)], None);
        assert_eq!((ranks(&twice), twice.notes.len()), (vec![(0, 0), (1, 1)], 0));
        assert!(twice.warnings[0].starts_with("2 processes claim rank 4 by the names"), "{:?}", twice.warnings);
        let recorded = assign(vec![facts("a.db", Some(4), false), facts("rank4.db", None, false)], None);
        assert_eq!((ranks(&recorded), recorded.warnings.len()), (vec![(0, 4), (1, 5)], 1));
        let partly = assign(vec![facts("rank4.db", None, false), facts("other.db", None, false)], None);
        assert_eq!((ranks(&partly), partly.warnings.len()), (vec![(1, 0), (0, 1)], 0));
        assert!(partly.notes[0].contains("ranks follow the order of the paths"), "{:?}", partly.notes);
        // Of one path there is nothing to order.
        assert!(assign(vec![facts("a.rpd", None, false), facts("a.rpd", None, false)], None).notes.is_empty());
    }

    #[test]
    fn rank_from_reads_the_first_group() {
        let regex = Regex::new(r"rank(\d+)_").unwrap();
        let assignment = assign(vec![facts("rank4_1.db", Some(0), false), facts("x", Some(0), false)], Some(&regex));
        assert_eq!(ranks(&assignment), [(0, 4), (1, 5)]);
        assert_eq!(assignment.warnings.len(), 1);
    }
}
