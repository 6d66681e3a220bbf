//! Records that a trace holds already, so that nothing is recommended twice.

use std::collections::BTreeSet;

use super::answers::Answers;
use super::input_words::InputWords;
use super::missing_ranks::{COMMUNICATORS, MissingRanks};
use super::query_request::QueryRequest;
use crate::NameForm;
use wavesieve_model::analysis::counter_plan::{CounterBlocks, RocmVersion};
use wavesieve_model::analysis::hardware::metrics::SUFFIXES;
use wavesieve_model::analysis::upstream::first_release;
use wavesieve_model::schema::facts::{AgentFacts, ProcessFacts, Role};
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Placeholder program, if the trace does not record all of it.
const UNKNOWN_PROGRAM: &str = "./app";
/// Parts of words that may be followed by a secret.
const SECRETS: [&str; 8] = ["password", "passwd", "token", "secret", "key", "credential", "auth", "://"];
/// Longest command line that is repeated.
const LONGEST_PROGRAM: usize = 200;

/// Profilers that can record more of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profilers {
    /// rocprofv3 and its relatives, which recorded the trace, or could have.
    #[default]
    Rocm,
    /// The profiler of PyTorch, which recorded the trace.
    PyTorch,
    /// Those for GPUs that are not AMD's.
    Others,
}

impl Profilers {
    /// The profilers for processes. One that AMD's tools recorded shows that they are there.
    fn new<'a>(processes: impl Iterator<Item = &'a ProcessFacts> + Clone) -> Self {
        let is_foreign = |agent: &AgentFacts| agent.is_gpu() && agent.is_of_nvidia();
        let has_foreign = processes.clone().any(|facts| facts.agents.iter().any(is_foreign));
        let mut recorded = processes.map(ProcessFacts::is_of_pytorch).peekable();
        let is_recorded = recorded.peek().is_some();
        match (is_recorded && recorded.all(|is_of_pytorch| is_of_pytorch), has_foreign) {
            (true, _) => Self::PyTorch,
            (false, true) => Self::Others,
            (false, false) => Self::Rocm,
        }
    }
}

/// Records that a trace holds already, and facts that commands for it need.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    /// Kinds of records: `kernels`, `copies`, `allocations`, `hip`, `hsa`, `rccl`, `markers` and so on.
    pub kinds: BTreeSet<String>,
    /// Counters by the names of the hardware.
    pub counters: BTreeSet<String>,
    /// Kernels that were counted, by their names in the answers.
    pub counted_kernels: BTreeSet<String>,
    /// Kernels with a thread trace.
    pub traced_kernels: BTreeSet<String>,
    /// Architectures of the GPUs.
    pub architectures: BTreeSet<String>,
    /// The program and its arguments.
    pub program: Vec<String>,
    /// Command lines of all processes as recorded; they must not be disclosed.
    pub commands: BTreeSet<String>,
    /// Form of kernel names in the answers.
    pub name: NameForm,
    /// GPUs that the process saw; `None` for several processes, because each may use its own.
    pub visible_gpus: Option<usize>,
    /// Ranks whose dispatches were serialized by counter collection, so the time between them is meaningless.
    pub serialized_ranks: BTreeSet<i64>,
    /// Directory that the outputs of commands go to; empty for the current one.
    pub directory: String,
    /// Release of ROCm that commands are for; the oldest of several.
    pub rocm: Option<RocmVersion>,
    /// Profilers that can record more.
    pub profilers: Profilers,
    /// Options that the profiler of PyTorch was given in every process.
    pub profiler_options: BTreeSet<String>,
    /// The words that name the inputs.
    pub inputs: InputWords,
    /// Ranks of the job that are missing.
    pub missing_ranks: Option<MissingRanks>,
}

impl Collected {
    /// Questions whose results reveal what was collected.
    pub fn questions() -> Vec<QueryRequest> {
        ["api_classes", "counter_summary", "bottlenecks", "att_by_class", "range_summary", COMMUNICATORS]
            .map(QueryRequest::new)
            .to_vec()
    }

    /// The first GPU whose counters are known.
    pub fn architecture(&self) -> Option<&str> {
        let facts = CounterBlocks::builtin();
        self.architectures.iter().map(String::as_str).find(|name| facts.architectures().any(|known| known == *name))
    }

    /// The output path of one kind of command.
    pub fn output(&self, directory: &str) -> String {
        if self.directory.is_empty() { directory.to_owned() } else { format!("{}/{directory}", self.directory) }
    }

    /// Facts that commands for the program of a process need, for one of its GPUs if its agent is given. Nothing counts as recorded, so
    /// that every command is made.
    pub(super) fn nothing_of(member: &TraceProcess, agent_id: Option<i64>, name: NameForm, directory: String) -> Self {
        let facts = &member.process.facts;
        let gpus = facts.agents.iter().filter(|agent| agent.is_gpu());
        let is_asked = |agent: &&AgentFacts| agent_id.is_none_or(|id| agent.agent_id == id);
        Self {
            architectures: gpus.filter(is_asked).map(|agent| architecture(&agent.name)).collect(),
            program: facts.command.as_deref().and_then(program).unwrap_or_else(unknown_program),
            name,
            directory,
            rocm: recorded_release(facts),
            // A request of the user works wherever the GPU is AMD's, whatever recorded the trace.
            profilers: match Profilers::new(std::iter::once(facts)) {
                Profilers::PyTorch if !facts.agents.iter().any(AgentFacts::is_of_nvidia) => Profilers::Rocm,
                profilers => profilers,
            },
            ..Self::default()
        }
    }

    /// Records of a trace, by its tables and its answers.
    pub fn new(trace: &Trace, answers: &Answers, name: NameForm) -> Self {
        let agents = trace.members().iter().flat_map(|member| &member.process.facts.agents);
        let architectures = agents.filter(|agent| agent.is_gpu()).map(|agent| architecture(&agent.name)).collect();
        let commands: BTreeSet<Option<&String>> =
            trace.members().iter().map(|member| member.process.facts.command.as_ref()).collect();
        let program = match commands.first() {
            Some(Some(command)) if commands.len() == 1 => program(command),
            _ => None,
        };
        let texts = |query: &str, column: &str| -> BTreeSet<String> {
            let rows = answers.rows(QueryRequest::new(query));
            rows.places().filter_map(|row| rows.text(row, column).map(ToOwned::to_owned)).collect()
        };
        let mut kinds = texts("api_classes", "domain");
        for (table, kind) in [
            ("kernels", "kernels"),
            ("memory_copies", "copies"),
            ("memory_allocations", "allocations"),
            ("marks", "markers"),
            ("pc_samples", "pc_samples"),
            ("samples", "samples"),
        ] {
            if answers.recorded().contains(table) {
                kinds.insert(kind.to_owned());
            }
        }
        if answers.get(&QueryRequest::new("range_summary")).is_some() {
            kinds.insert("markers".to_owned());
        }
        Self {
            kinds,
            counters: texts("counter_summary", "counter").iter().map(|name| bare(name).to_owned()).collect(),
            counted_kernels: texts("bottlenecks", "kernel_name"),
            traced_kernels: texts("att_by_class", "kernel_name"),
            architectures,
            commands: commands.into_iter().flatten().cloned().collect(),
            program: program.unwrap_or_else(unknown_program),
            name,
            visible_gpus: match trace.members() {
                [only] => Some(only.process.facts.agents.iter().filter(|agent| agent.is_gpu()).count()),
                _ => None,
            },
            serialized_ranks: trace
                .members()
                .iter()
                .filter(|member| member.process.role == Role::Trace && member.process.facts.may_be_serialized())
                .map(|member| member.process.rank)
                .collect(),
            directory: String::new(),
            rocm: trace.members().iter().filter_map(|member| recorded_release(&member.process.facts)).min(),
            profilers: Profilers::new(trace.members().iter().map(|member| &member.process.facts)),
            profiler_options: options_of_all(trace),
            inputs: InputWords::new(trace),
            missing_ranks: MissingRanks::new(trace, answers),
        }
    }
}

/// Options that the profiler was given in every process.
fn options_of_all(trace: &Trace) -> BTreeSet<String> {
    let each = trace.members().iter().map(|member| member.process.facts.profiler_options.clone());
    each.reduce(|all, own| all.intersection(&own).cloned().collect()).unwrap_or_default()
}

/// The release of ROCm that a process was recorded with, or the first that writes its format.
fn recorded_release(facts: &ProcessFacts) -> Option<RocmVersion> {
    let named = facts.rocm_version.as_deref().and_then(RocmVersion::recorded);
    named.or_else(|| first_release(&facts.format, facts.schema_version.as_deref()?))
}

fn unknown_program() -> Vec<String> {
    vec![UNKNOWN_PROGRAM.to_owned()]
}

/// The architecture of a GPU: its name without the features that the runtime lists after a colon.
fn architecture(name: &str) -> String {
    name.split(':').next().unwrap_or_default().to_lowercase()
}

/// The name of a counter without the suffix that says how its instances are combined.
fn bare(name: &str) -> &str {
    SUFFIXES.iter().find_map(|(suffix, _)| name.strip_suffix(suffix)).unwrap_or(name)
}

/// The words of a recorded command line. `None` if it may contain secrets, is long, or cannot be split: no source
/// records word boundaries if words contain blanks.
fn program(command: &str) -> Option<Vec<String>> {
    let small = command.to_lowercase();
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.,/:=+@% ".contains(character);
    if SECRETS.iter().any(|secret| small.contains(secret))
        || command.len() > LONGEST_PROGRAM
        || !command.chars().all(is_plain)
    {
        return None;
    }
    let words: Vec<String> = command.split_whitespace().map(ToOwned::to_owned).collect();
    words.first().is_some_and(|first| !first.starts_with('-')).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_repeated_only_without_secrets() {
        assert_eq!(program("/opt/app --steps 3").unwrap(), ["/opt/app", "--steps", "3"]);
        for command in ["app --token abc", "app --API_KEY=1", "app 'a b'", "app https://x", "", "  ", "-c"] {
            assert_eq!(program(command), None, "{command}");
        }
        assert_eq!(program(&"x".repeat(300)), None);
    }

    #[test]
    fn profilers_are_those_of_the_trace() {
        let of = |processes: &[(&str, &str)]| {
            let gpu = |name: &str| AgentFacts {
                agent_type: "GPU".to_owned(),
                name: name.to_owned(),
                ..AgentFacts::default()
            };
            let process = |(format, name): &(&str, &str)| ProcessFacts {
                format: (*format).to_owned(),
                agents: vec![gpu(name)],
                ..ProcessFacts::default()
            };
            Profilers::new(processes.iter().map(process).collect::<Vec<_>>().iter())
        };
        assert_eq!(of(&[("rocpd", "gfx942")]), Profilers::Rocm);
        assert_eq!(of(&[("rocpd", "unknown")]), Profilers::Rocm);
        assert_eq!(of(&[("kineto", "gfx942"), ("kineto", "sm_90")]), Profilers::PyTorch);
        assert_eq!(of(&[("kineto", "gfx942"), ("rocpd", "gfx942")]), Profilers::Rocm);
        assert_eq!(of(&[("perfetto", "sm_90")]), Profilers::Others);
        assert_eq!(of(&[]), Profilers::Rocm);
    }

    #[test]
    fn counters_have_one_name() {
        assert_eq!(bare("TCC_HIT_sum"), "TCC_HIT");
        assert_eq!(bare("SQ_WAVES"), "SQ_WAVES");
    }
}
