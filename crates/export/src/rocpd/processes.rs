//! The processes of a partition that are kept, and the facts that are written about them.

use wavesieve_tables::trace::identities::rank_in_names;
use wavesieve_tables::trace::selection::Resolved;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// A process that is kept.
pub(crate) struct KeptProcess<'a> {
    /// Process id of the operating system.
    pub pid: i64,
    /// Its rank, if the metadata should keep it.
    pub rank: Option<i64>,
    /// Its window and kernels, if rows are chosen.
    pub resolved: Option<&'a Resolved>,
    /// Its agents that are kept, if agents are chosen.
    pub agents: Option<Vec<i64>>,
}

impl<'a> KeptProcess<'a> {
    /// The processes of a partition of a file that a trace keeps. Ranks that follow only from the order of paths are
    /// kept if there is more than one.
    pub(super) fn of_partition(trace: &'a Trace, shown: &str, suffix: &str) -> Vec<Self> {
        let of = |member: &&TraceProcess| {
            let facts = &member.process.facts;
            facts.path == shown && facts.content_hash == suffix
        };
        let members = trace.members().iter().filter(of);
        members.map(|member| Self::new(trace, member)).collect()
    }

    fn new(trace: &'a Trace, member: &TraceProcess) -> Self {
        let process = &member.process;
        let is_recorded = process.facts.environment_rank.is_some() || rank_in_names(&process.facts.path).is_some();
        let is_known = trace.all_ranks().len() > 1 || process.rank != 0 || is_recorded;
        let agents = trace.choice().gpus.as_ref().map(|chosen| {
            let gpus = process.gpus.iter().filter(|(_, gpu)| chosen.contains(gpu.gpu));
            gpus.map(|(agent, _)| *agent).collect()
        });
        Self {
            pid: process.facts.pid,
            rank: is_known.then_some(process.rank),
            resolved: trace.resolved_of(member),
            agents,
        }
    }
}
