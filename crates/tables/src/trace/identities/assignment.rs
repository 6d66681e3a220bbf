//! Processes, ranks, nodes, devices and roles of the logical trace, assigned from what the sources report.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use super::attach_sessions::{about_sessions, earlier_sessions};
use super::counter_passes::{CounterPasses, UNEVEN_PASSES, about_passes};
use super::rank_claims::{Related, claims_of_names, fill_ranks, rank_in_path, recorded_claims};
use wavesieve_model::schema::facts::{ProcessFacts, Role};
use wavesieve_model::schema::process::{Clock, Gpu, Process};
use wavesieve_model::text::natural_order::natural_key;

/// Result of [`assign`]: processes in order of `process`, with their positions in the input.
pub struct Assignment {
    /// The processes and the input position of each.
    pub processes: Vec<(usize, Process)>,
    /// Facts that the user should know, such as an unreliable environment.
    pub warnings: Vec<String>,
    /// Sources of ranks that no trace records.
    pub notes: Vec<String>,
}

/// Numbers the processes of a trace.
///
/// The rank comes from the first of these sources that has one: `rank_from` applied to the path (its first group, otherwise the whole
/// match); a dataset; the recorded environment, unless two processes that are not counter passes of one another claim the same rank; the
/// word `rank` in the names of files and folders, under the same condition; the natural order of the paths. Counter passes that rocprofv3
/// wrote to separate folders have the ranks of the run that they repeat. The result does not depend on the order of `facts`.
pub fn assign(facts: Vec<ProcessFacts>, rank_from: Option<&Regex>) -> Assignment {
    let (mut warnings, mut notes) = (Vec::new(), Vec::new());
    let mut order: Vec<(usize, ProcessFacts)> = facts.into_iter().enumerate().collect();
    order.sort_by_cached_key(|(_, facts)| {
        // Rows without a process come after rows of known processes.
        (natural_key(&facts.path), facts.guid.clone(), facts.pid < 0, facts.pid, facts.content_hash.clone())
    });

    let known: Vec<&ProcessFacts> = order.iter().map(|(_, facts)| facts).collect();
    let related = Related { passes: CounterPasses::find(&known), sessions: earlier_sessions(&known) };
    let claims: Vec<Option<i64>> =
        known.iter().map(|facts| rank_from.and_then(|regex| rank_in_path(regex, &facts.path))).collect();
    let mut claims = if rank_from.is_some() {
        claims
    } else {
        let recorded = recorded_claims(&order, &related, &mut warnings);
        claims_of_names(&order, &related, recorded, &mut warnings, &mut notes)
    };
    let repeated = related.passes.repeated(&known, &mut claims);
    let same_rank: Vec<Option<usize>> =
        repeated.first.iter().zip(&related.sessions).map(|(first, session)| first.or(*session)).collect();
    let of_runs = || order.iter().zip(&claims).zip(&same_rank).filter(|(_, first)| first.is_none());
    let unclaimed_runs = || {
        let all = order.iter().zip(&claims).zip(&same_rank).enumerate();
        let unclaimed = all.filter(|(_, ((_, claim), first))| claim.is_none() && first.is_none());
        unclaimed.map(|(at, (((_, facts), _), _))| (at, facts)).filter(|(_, facts)| !facts.is_thread_trace)
    };
    let unmatched = of_runs().filter(|((_, claim), _)| claim.is_none()).count();
    if rank_from.is_some() && unmatched > 0 {
        warnings.push(format!(
            "--rank-from matches no number in {unmatched} of {} paths; these get the next ranks after the highest",
            of_runs().count()
        ));
    }
    // Processes in folders of passes are not passes of other processes.
    let outside = || unclaimed_runs().filter(|(at, _)| related.passes.number(*at).is_none()).map(|(_, facts)| facts);
    let unranked = |counters: bool| outside().filter(|facts| facts.carries_counters() == counters).count();
    if let (1.., 1..) = (unranked(true), unranked(false)) {
        warnings.push(format!(
            "{} of the processes without a known rank have counters: each counts as a separate rank, kernels included; if \
             they are counter passes of the others, set the ranks with --rank-from REGEX",
            unranked(true)
        ));
    }
    let paths: BTreeSet<&str> = unclaimed_runs().map(|(_, facts)| facts.path.as_str()).collect();
    // Warnings already name the option.
    if paths.len() > 1 && warnings.is_empty() {
        notes.push(format!(
            "{} traces record no rank: their ranks follow the order of the paths; set them with --rank-from REGEX",
            paths.len()
        ));
    }
    notes.extend(about_passes(repeated.first.iter().flatten().count()));
    notes.extend(about_sessions(related.sessions.iter().flatten().count()));
    if repeated.uneven > 0 {
        warnings.push(UNEVEN_PASSES.to_owned());
    }
    let ranks = fill_ranks(&order, &claims, &same_rank);
    let mut ranked: Vec<Ranked> = order
        .into_iter()
        .zip(ranks)
        .enumerate()
        .map(|(at, ((position, facts), rank))| Ranked {
            position,
            facts,
            rank,
            pass: related.passes.number(at),
            is_repeated: repeated.first.get(at).is_some_and(Option::is_some),
        })
        .collect();
    name_nodes(&mut ranked);
    ranked.sort_by_cached_key(|Ranked { facts, rank, .. }| {
        let identity = facts.guid.clone().unwrap_or_else(|| facts.content_hash.clone());
        // The numbers of processes do not depend on thread traces next to them.
        (*rank, facts.is_thread_trace, identity, facts.pid, natural_key(&facts.path))
    });

    let ranks_of =
        |is: fn(&Ranked) -> bool| -> BTreeSet<i64> { ranked.iter().filter(|of| is(of)).map(|of| of.rank).collect() };
    let (plain_ranks, stored_ranks) = (ranks_of(Ranked::is_plain), ranks_of(Ranked::is_stored_trace));
    let mut nodes: BTreeMap<String, i64> = BTreeMap::new();
    let mut devices: BTreeMap<(i64, String), i64> = BTreeMap::new();
    let first_passes = first_passes(&ranked);
    let mut processes = Vec::with_capacity(ranked.len());
    for (number, (of, pass)) in ranked.into_iter().zip(first_passes).enumerate() {
        let Ranked { position, facts, rank, is_repeated, .. } = of;
        let next_node = nodes.len() as i64;
        let node = *nodes.entry(facts.machine_key.clone()).or_insert(next_node);
        let is_stored_pass = facts.stored_role == Some(Role::Counters) && stored_ranks.contains(&rank);
        let is_pass = facts.carries_counters() && (plain_ranks.contains(&rank) || is_stored_pass);
        let role = match is_repeated || is_pass {
            _ if facts.is_thread_trace => Role::ThreadTrace,
            true => Role::Counters,
            false => Role::Trace,
        };
        let gpus = number_gpus(&facts, node, &mut devices);
        let clock = Clock { number: node, ..Clock::default() };
        processes.push((position, Process { process: number as i64, rank, node, role, pass, clock, gpus, facts }));
    }
    Assignment { processes, warnings, notes }
}

/// A process with its rank.
struct Ranked {
    /// Position in the input.
    position: usize,
    facts: ProcessFacts,
    rank: i64,
    /// The number of its folder among counter passes.
    pass: Option<i64>,
    /// Whether it repeats a process that is read completely.
    is_repeated: bool,
}

impl Ranked {
    /// Whether counters of the same rank are passes of this process.
    fn is_plain(&self) -> bool {
        !self.facts.carries_counters() && !self.facts.is_thread_trace && !self.is_repeated
    }

    /// Whether a dataset has all of it, so that passes of the same rank in it have only counters.
    fn is_stored_trace(&self) -> bool {
        self.facts.stored_role == Some(Role::Trace)
    }
}

/// The ordinal of the first pass of each process among the passes of its rank, in the order of pass numbers.
fn first_passes(ranked: &[Ranked]) -> Vec<i64> {
    let mut order: Vec<usize> = (0..ranked.len()).collect();
    order.sort_by_key(|at| ranked.get(*at).map(|of| (of.rank, of.pass.unwrap_or(i64::MAX))));
    let mut next: BTreeMap<i64, i64> = BTreeMap::new();
    let mut passes = vec![0; ranked.len()];
    for at in order {
        let (Some(of), Some(pass)) = (ranked.get(at), passes.get_mut(at)) else { continue };
        if of.facts.carries_counters() {
            let next = next.entry(of.rank).or_insert(0);
            *pass = *next;
            *next = next.saturating_add(1).saturating_add(of.facts.replay_passes.max(0));
        }
    }
    passes
}

/// Assigns thread traces, and counter passes without a known host, to the node of the processes of their rank.
fn name_nodes(ranked: &mut [Ranked]) {
    let is_known = |of: &&Ranked| !of.facts.is_thread_trace && !of.is_repeated;
    let nodes: BTreeMap<i64, String> =
        ranked.iter().filter(is_known).rev().map(|of| (of.rank, of.facts.machine_key.clone())).collect();
    for of in ranked.iter_mut() {
        let facts = &of.facts;
        let is_unknown = match of.is_repeated {
            true => facts.machine_id.is_none() && facts.hostname.is_none(),
            false => facts.is_thread_trace && facts.machine_key.is_empty(),
        };
        if let (true, Some(node)) = (is_unknown, nodes.get(&of.rank)) {
            of.facts.machine_key.clone_from(node);
        }
    }
}

/// GPU indexes of one process, by the recorded index among GPUs if it is complete and distinct, otherwise by the absolute index.
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

    /// Ranks, roles (`t` for traces, `c` for counter passes) and numbers of passes, in the order of the paths given. Paths of
    /// counters begin with `+`, and a rank in the environment follows `@`.
    fn layout(paths: &[&str]) -> (Vec<String>, Assignment) {
        let of = |path: &&str| {
            let (path, rank) = path.split_once('@').map_or((*path, None), |(path, rank)| (path, rank.parse().ok()));
            facts(path.trim_start_matches('+'), rank, path.starts_with('+'))
        };
        let assignment = assign(paths.iter().map(of).collect(), None);
        let mut found: Vec<(usize, String)> = assignment
            .processes
            .iter()
            .map(|(position, process)| {
                let role = if process.role == Role::Counters { 'c' } else { 't' };
                (*position, format!("{}{role}{}", process.rank, process.pass))
            })
            .collect();
        found.sort();
        (found.into_iter().map(|(_, of)| of).collect(), assignment)
    }

    #[test]
    fn passes_in_folders_are_no_ranks() {
        for (paths, expected) in [
            // Only passes: the first provides the kernels.
            (&["+c/pass_1/n/51_results.db", "+c/pass_2/n/52_results.db"][..], &["0t0", "0c1"][..]),
            (&["+pmc_1/n/51_results.db", "+pmc_2/n/52_results.db", "+pmc_10/n/49_results.db"], &["0t0", "0c1", "0c2"]),
            (&["+c/pass_2/n/50.csv", "+c/pass_1/n/52.csv"], &["0c1", "0t0"]),
            (&["+pass_1_results.db", "+pass_2_results.db"], &["0t0", "0c1"]),
            // Next to a trace, in any folder.
            (&["t/n/49.db", "+pmc_1/n/51.db", "+pmc_2/n/52.db"], &["0t0", "0c0", "0c1"]),
            (&["t/n/49.db", "+c/pass_1/n/51.db"], &["0t0", "0c0"]),
            (&["c/n/49.db", "+c/pass_1/n/51.db", "+c/pass_2/n/52.db"], &["0t0", "0c0", "0c1"]),
            // A job without counters is the trace.
            (&["+pass_1/n/51.db", "pass_2/n/52.db", "+pass_3/n/53.db"], &["0c0", "0t0", "0c1"]),
            // Several ranks, in the order of their paths.
            (
                &["+pass_1/n/51.db", "+pass_1/n/52.db", "+pass_2/n/61.db", "+pass_2/n/62.db"],
                &["0t0", "1t0", "0c1", "1c1"],
            ),
            (
                &["t/n/9.db", "t/n/10.db", "+pmc_1/n/51.db", "+pmc_1/n/52.db", "+pmc_2/n/8.db", "+pmc_2/n/11.db"],
                &["0t0", "1t0", "0c0", "1c0", "0c1", "1c1"],
            ),
            // By the ranks that are recorded or named.
            (
                &["+pass_1/51.db@3", "+pass_1/52.db@2", "+pass_2/61.db@2", "+pass_2/62.db@3"],
                &["3t0", "2t0", "2c1", "3c1"],
            ),
            (&["rank4/9.db", "rank5/8.db", "+rank4/pmc_1/51.db", "+rank5/pmc_1/41.db"], &["4t0", "5t0", "4c0", "5c0"]),
            (&["t/rank4.db", "t/rank5.db", "+pmc_1/51.db", "+pmc_1/52.db"], &["4t0", "5t0", "4c0", "5c0"]),
            (&["t/8.db@1", "t/9.db@0", "+pmc_1/51.csv", "+pmc_1/52.csv"], &["1t0", "0t0", "1c0", "0c0"]),
            // A launcher process without GPU work in each pass.
            (&["pass_1/50.db", "+pass_1/51.db", "pass_2/60.db", "+pass_2/61.db"], &["0t0", "1t0", "0c0", "1c1"]),
            // Runs next to one another.
            (&["+a/pass_1/1.db", "+a/pass_2/2.db", "+b/pass_1/3.db", "+b/pass_2/4.db"], &["0t0", "0c1", "1t0", "1c1"]),
            (&["a/t/1.db", "+a/pass_1/2.db", "b/t/3.db", "+b/pass_1/4.db"], &["0t0", "0c0", "1t0", "1c0"]),
        ] {
            let (found, assignment) = layout(paths);
            assert_eq!(found, expected, "{paths:?}");
            assert!(assignment.warnings.is_empty(), "{paths:?}: {:?}", assignment.warnings);
        }
    }

    #[test]
    fn other_numbers_of_folders_are_as_before() {
        for (paths, expected) in [
            (&["pass_1/1.db", "pass_2/2.db"][..], &["0t0", "1t0"][..]),
            (&["+a/1.db", "+b/2.db"], &["0t0", "1t0"]),
            (&["+compass_1/1.db", "+compass_2/2.db"], &["0t0", "1t0"]),
            (&["+pass_1/1.db", "+pass_1/2.db"], &["0t0", "1t0"]),
            (&["+pass_1x/1.db", "+pass_2x/2.db"], &["0t0", "1t0"]),
            (&["+node_1/1.db@0", "+node_2/2.db@1"], &["0t0", "1t0"]),
            // Passes that record other ranks are not repetitions.
            (&["+pass_1/1.db@0", "+pass_2/2.db@1"], &["0t0", "1t0"]),
        ] {
            assert_eq!(layout(paths).0, expected, "{paths:?}");
        }
    }

    #[test]
    fn a_pass_that_lost_a_process_is_reported() {
        let (found, assignment) = layout(&["+pass_1/51.db", "+pass_1/52.db", "+pass_2/61.db"]);
        assert_eq!(found, ["0t0", "1t0", "0c1"]);
        assert!(assignment.warnings[0].contains("other numbers of processes"), "{:?}", assignment.warnings);
        // Recorded ranks leave no doubt.
        let (found, assignment) = layout(&["+pass_1/51.db@0", "+pass_1/52.db@1", "+pass_2/61.db@1"]);
        assert_eq!((found, assignment.warnings.len()), (["0t0", "1t0", "1c1"].map(str::to_owned).to_vec(), 0));
        // A pass whose processes all inherited one rank.
        let inherited = ["+pass_1/51.db@0", "+pass_1/52.db@0", "+pass_2/61.db@0", "+pass_2/62.db@0"];
        assert_eq!(layout(&inherited).0, ["0t0", "1t0", "0c1", "1c1"]);
    }

    #[test]
    fn passes_run_on_the_machines_of_their_ranks() {
        let on = |path: &str, machine: &str, has_counters| ProcessFacts {
            machine_key: machine.into(),
            hostname: (!machine.starts_with("directory")).then(|| machine.to_owned()),
            ..facts(path, None, has_counters)
        };
        let nodes = |all: Vec<ProcessFacts>| -> Vec<(usize, i64, i64)> {
            let of = |(position, process): &(usize, Process)| (*position, process.rank, process.node);
            assign(all, None).processes.iter().map(of).collect()
        };
        let hosts = [
            on("t/1.db", "b", false),
            on("t/2.db", "a", false),
            on("pmc_1/3.db", "a", true),
            on("pmc_1/4.db", "b", true),
        ];
        assert_eq!(nodes(hosts.to_vec()), [(3, 0, 0), (0, 0, 0), (2, 1, 1), (1, 1, 1)]);
        let folders = [on("pmc_1/5.csv", "directory pmc_1", true), on("pmc_2/6.csv", "directory pmc_2", true)];
        assert_eq!(nodes(folders.to_vec()), [(0, 0, 0), (1, 0, 0)]);
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
        // A recorded or user-given rank takes precedence.
        assert_eq!(ranks(&assign(vec![facts("rank4.db", Some(7), false)], None)), [(0, 7)]);
        let stored = ProcessFacts { stored_rank: Some(6), ..four.clone() };
        assert_eq!(ranks(&assign(vec![stored], None)), [(0, 6)]);
        let regex = Regex::new(r"_(\d+)").unwrap();
        let assignment = assign(vec![four.clone(), five], Some(&regex));
        assert_eq!((ranks(&assignment), assignment.notes.len()), (vec![(1, 80), (0, 81)], 0));
        // Names decide if the environment is unreliable.
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
        // A single path leaves nothing to order.
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
