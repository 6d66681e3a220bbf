//! Processes, ranks, nodes, devices and roles of the logical trace, assigned from what the sources tell.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::Regex;

use super::clocks::Clock;
use super::facts::{ProcessFacts, Role};
use super::natural_order::natural_key;

/// A process with its place in the logical trace.
#[derive(Clone, Debug)]
pub struct Process {
    /// Join key, dense over the logical trace.
    pub process: i64,
    /// Label.
    pub rank: i64,
    /// Dense number of the machine.
    pub node: i64,
    /// Ordinary trace or counter pass.
    pub role: Role,
    /// Ordinal of its first counter pass among those of the processes of its rank.
    pub pass: i64,
    /// The axis that its times are on: that of its machine, unless clocks were aligned.
    pub clock: Clock,
    /// GPU index and device number by agent id.
    pub gpus: BTreeMap<i64, Gpu>,
    /// What the source told.
    pub facts: ProcessFacts,
}

/// Place of a GPU in its process and in the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// Index among the GPUs of the process.
    pub gpu: i64,
    /// Dense number over all physical GPUs.
    pub device: i64,
}

/// Result of [`assign`]: processes in order of `process`, with the position each had in the input.
pub struct Assignment {
    /// The processes and the input position of each.
    pub processes: Vec<(usize, Process)>,
    /// Things the user should know, such as an environment that could not be trusted.
    pub warnings: Vec<String>,
}

/// Numbers the processes of a trace.
///
/// Ranks come from `rank_from` applied to the path (its first group, else the whole match), else from a dataset, else
/// from the recorded environment unless two processes that are no counter passes of one another claim the same rank,
/// else from the natural order of the paths. The result does not depend on the order of `facts`.
pub fn assign(facts: Vec<ProcessFacts>, rank_from: Option<&Regex>) -> Assignment {
    let mut warnings = Vec::new();
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
                "--rank-from matches no number in {unmatched} of {} paths; these get the ranks after the highest",
                claims.len()
            ));
        }
        claims
    } else {
        recorded_claims(&order, &mut warnings)
    };

    let unranked = |counters: bool| {
        let unclaimed = order.iter().zip(&claims).filter(|(_, claim)| claim.is_none());
        let unclaimed = unclaimed.filter(|((_, facts), _)| !facts.is_thread_trace);
        unclaimed.filter(|((_, facts), _)| carries_counters(facts) == counters).count()
    };
    if let (1.., 1..) = (unranked(true), unranked(false)) {
        warnings.push(format!(
            "{} of the processes without a known rank carry counters: each counts as a rank of its own, kernels included; if \
             they are counter passes of the others, name the ranks with --rank-from REGEX",
            unranked(true)
        ));
    }
    let ranks = fill_ranks(&order, &claims);
    let mut ranked: Vec<(usize, ProcessFacts, i64)> =
        order.into_iter().zip(ranks).map(|((position, facts), rank)| (position, facts, rank)).collect();
    name_machines(&mut ranked);
    ranked.sort_by_cached_key(|(_, facts, rank)| {
        let identity = facts.guid.clone().unwrap_or_else(|| facts.content_hash.clone());
        // Processes have the same numbers without the thread traces beside them.
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
    Assignment { processes, warnings }
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
    let mut plain: BTreeMap<i64, usize> = BTreeMap::new();
    for (_, facts) in order {
        if let (None, Some(rank), false) = (facts.stored_rank, facts.environment_rank, facts.has_counters) {
            *plain.entry(rank).or_insert(0) += 1;
        }
    }
    let disputed = plain.iter().find(|(_, count)| **count > 1).map(|(rank, count)| (*rank, *count));
    if let Some((rank, count)) = disputed {
        warnings.push(format!(
            "{count} processes claim rank {rank} by their recorded environment, so that no environment is used and ranks \
             follow the natural order of the paths; name them with --rank-from REGEX"
        ));
    }
    order
        .iter()
        .map(|(_, facts)| facts.stored_rank.or(if disputed.is_some() { None } else { facts.environment_rank }))
        .collect()
}

/// Gives every process a rank: its claim, else the next number after the highest claim in the order given. Processes
/// of one capture series (a counter pass beside its trace) have no common claim here, so each gets its own. A thread trace, which
/// tells nothing of its process, has the rank of those below the nearest directory above it, if these are of one rank; else all
/// thread traces of a directory have one.
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
        let beside = || rank_beside(path, &known);
        let rest = || *of_directories.entry(path.parent()).or_insert_with(&mut take_next);
        *rank = Some(rank.or_else(beside).unwrap_or_else(rest));
    }
    ranks.into_iter().map(Option::unwrap_or_default).collect()
}

/// The rank of the processes below the nearest directory above a file, if they have only one.
fn rank_beside(path: &Path, known: &[(&Path, i64)]) -> Option<i64> {
    let below = |directory: &Path| -> BTreeSet<i64> {
        known.iter().filter(|(path, _)| path.starts_with(directory)).map(|(_, rank)| *rank).collect()
    };
    let ranks = path.ancestors().skip(1).map(below).find(|ranks| !ranks.is_empty())?;
    ranks.first().copied().filter(|_| ranks.len() == 1)
}

/// Thread traces ran on the machine of the processes of their rank.
fn name_machines(ranked: &mut [(usize, ProcessFacts, i64)]) {
    let named = ranked.iter().filter(|(_, facts, _)| !facts.is_thread_trace);
    let machines: BTreeMap<i64, String> =
        named.rev().map(|(_, facts, rank)| (*rank, facts.machine_key.clone())).collect();
    for (_, facts, rank) in ranked.iter_mut().filter(|(_, facts, _)| facts.is_thread_trace) {
        if let (true, Some(machine)) = (facts.machine_key.is_empty(), machines.get(rank)) {
            facts.machine_key.clone_from(machine);
        }
    }
}

/// GPU indexes of one process, by the recorded index among GPUs where it is complete and distinct, else by the
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
        let beside = vec![thread_trace("d/a.csv"), facts("d/host/x.db", Some(3), false)];
        assert_eq!(found(beside), [(1, 3, trace), (0, 3, thread)]);
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
    fn rank_from_reads_the_first_group() {
        let regex = Regex::new(r"rank(\d+)_").unwrap();
        let assignment = assign(vec![facts("rank4_1.db", Some(0), false), facts("x", Some(0), false)], Some(&regex));
        assert_eq!(ranks(&assignment), [(0, 4), (1, 5)]);
        assert_eq!(assignment.warnings.len(), 1);
    }
}
