//! Turns the recommendations of `share/rules/recommendations.toml` into commands for a trace.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::Deserialize;

use super::collected::{Collected, Profilers};
use super::command::Command;
use crate::NameForm;
use wavesieve_model::analysis::counter_plan::{
    Accumulations, CounterBlocks, Item, Pass, Resolver, accumulation_definitions, check_for, items, plan, spelled,
};
use wavesieve_model::analysis::hardware::metrics::{Definitions, Normalization};
use wavesieve_model::analysis::kernel_names::base_name;
use wavesieve_model::text::hidden::is_hidden;

const RECOMMENDATIONS: &str = data!("share/rules/recommendations.toml");
/// Maximum length of a pattern that is made of a name.
const LONGEST_PATTERN: usize = 200;
/// Maximum length of a kernel name that is searched as a whole; a longer one is searched by its base name.
const LONGEST_NAME: usize = 80;
/// The profiler if a recommendation names none.
const ROCPROFV3: &str = "rocprofv3";
/// This program.
const OWN: &str = "wavesieve";
/// Characters that regular expressions read as operators.
const OPERATORS: &str = r"\^$.|?*+()[]{}";
/// Maximum length of the name of a workload.
const LONGEST_WORKLOAD: usize = 40;
/// Panel of the counters that rocprof-compute would collect as well.
const EVIDENCE: &str = "bottleneck_evidence";
/// File that defines accumulations.
const DEFINITIONS: &str = "accumulations.yaml";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recommendation {
    description: String,
    #[serde(default = "rocprofv3")]
    tool: String,
    #[serde(default)]
    mode: Option<String>,
    #[serde(default)]
    explains: BTreeSet<String>,
    #[serde(default)]
    torch: Vec<String>,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    counters: Vec<String>,
    #[serde(default)]
    kernel: bool,
    #[serde(default)]
    architectures: BTreeSet<String>,
    #[serde(default)]
    directory: String,
    #[serde(default = "rocpd")]
    format: String,
}

fn rocpd() -> String {
    "rocpd".to_owned()
}

fn rocprofv3() -> String {
    ROCPROFV3.to_owned()
}

fn recommendations() -> &'static BTreeMap<String, Recommendation> {
    static ALL: OnceLock<BTreeMap<String, Recommendation>> = OnceLock::new();
    // A test ensures that the file can be read.
    ALL.get_or_init(|| toml::from_str(RECOMMENDATIONS).unwrap_or_default())
}

/// Whether there is a recommendation of that name.
#[cfg(test)]
pub(crate) fn is_recommendation(name: &str) -> bool {
    recommendations().contains_key(name)
}

/// The options of PyTorch's profiler that record the same.
pub(super) fn torch_options(name: &str) -> &'static [String] {
    recommendations().get(name).map(|recommendation| recommendation.torch.as_slice()).unwrap_or_default()
}

/// A kernel that commands are about.
pub struct KernelTarget<'a> {
    /// Its name in the answers.
    pub name: &'a str,
    /// The words that restrict rocprofv3 to it, and to some of its dispatches if these are known.
    pub filter: Vec<String>,
}

impl<'a> KernelTarget<'a> {
    /// A kernel of which only the name in the answers is known.
    pub fn named(name: &'a str, form: NameForm) -> Self {
        Self { name, filter: kernel_filter(name, form) }
    }
}

/// The commands of a recommendation for a trace, for a kernel if it is about one. Empty if the trace already has what
/// they would collect, its GPUs do not support it, or AMD's profilers are not those of the trace.
pub fn commands(name: &str, target: Option<&KernelTarget<'_>>, collected: &Collected) -> Vec<Command> {
    let Some(recommendation) = recommendations().get(name) else { return Vec::new() };
    let kernel = target.map(|target| target.name);
    let has_all = |kinds: &BTreeSet<String>| !kinds.is_empty() && kinds.iter().all(|kind| has(kind, kernel, collected));
    let is_for_trace = recommendation.tool == OWN || collected.profilers == Profilers::Rocm;
    if has_all(&recommendation.explains) || !is_for_trace || !exists(recommendation, collected) {
        return Vec::new();
    }
    let filter = match (recommendation.kernel, target) {
        (true, Some(target)) if recommendation.tool == ROCPROFV3 => target.filter.clone(),
        (true, Some(target)) => match workload(target.name, collected.name) {
            Some(words) => words,
            None => return Vec::new(),
        },
        (true, None) => return Vec::new(),
        (false, _) => Vec::new(),
    };
    if !recommendation.counters.is_empty() {
        return for_release(counter_commands(recommendation, kernel, &filter, collected), collected);
    }
    let mut words = vec![recommendation.tool.clone()];
    words.extend(recommendation.mode.clone());
    words.extend(recommendation.flags.iter().cloned());
    words.extend(filter);
    if recommendation.tool == ROCPROFV3 {
        if !recommendation.format.is_empty() {
            words.extend(["--output-format".to_owned(), recommendation.format.clone()]);
        }
        words.extend(["-d".to_owned(), collected.output(&recommendation.directory)]);
    }
    words.push("--".to_owned());
    words.extend(collected.program.iter().cloned());
    let command = Command { tool: recommendation.tool.clone(), description: recommendation.description.clone(), words };
    for_release(vec![command], collected)
}

/// Spells commands for the release of ROCm that recorded the trace. Empty if the release lacks an option of any command, because the
/// commands belong together.
fn for_release(mut commands: Vec<Command>, collected: &Collected) -> Vec<Command> {
    let Some(release) = collected.rocm else { return commands };
    let profilers = |command: &&mut Command| command.tool != OWN;
    for command in commands.iter_mut().filter(profilers) {
        command.words = spelled(&command.words, Some(release));
        if !check_for(&command.words, Some(release)).is_empty() {
            return Vec::new();
        }
    }
    commands
}

fn has(kind: &str, kernel: Option<&str>, collected: &Collected) -> bool {
    let is_among = |kernels: &BTreeSet<String>| kernel.is_some_and(|kernel| kernels.contains(kernel));
    match kind {
        "thread_trace" => is_among(&collected.traced_kernels),
        "kernel_counters" => is_among(&collected.counted_kernels) && has_evidence(collected),
        kind => collected.kinds.contains(kind),
    }
}

/// Whether all counters that reveal what limits a kernel are available.
fn has_evidence(collected: &Collected) -> bool {
    let panel = [EVIDENCE.to_owned()];
    collected.architecture().is_some_and(|name| passes(&panel, name, &collected.counters).is_none())
}

/// Whether the GPUs support it; assumed if the architecture is not recorded.
fn exists(recommendation: &Recommendation, collected: &Collected) -> bool {
    let known: Vec<&String> = collected.architectures.iter().filter(|name| name.starts_with("gfx")).collect();
    recommendation.architectures.is_empty()
        || known.is_empty()
        || known.iter().any(|name| recommendation.architectures.contains(*name))
}

/// The words that restrict rocprofv3 to a kernel; none if the names in the answers are mangled, because rocprofv3 does not search these.
pub fn kernel_filter(kernel: &str, name: NameForm) -> Vec<String> {
    if matches!(name, NameForm::Mangled) {
        return Vec::new();
    }
    let shown = if kernel.len() > LONGEST_NAME { base_name(kernel) } else { kernel.to_owned() };
    // Short names have `<...>` for omitted parts.
    let shown = shown.split("<...>").next().unwrap_or_default().to_owned();
    // The start of a name finds it as well.
    let shown: String = shown.chars().take(LONGEST_PATTERN).collect();
    if shown.is_empty() { Vec::new() } else { with_value("--kernel-include-regex", escaped(&shown)) }
}

/// The words that name a workload of rocprof-compute and restrict it to a kernel. Some releases search a part of the name, others a regular
/// expression; the words suit both. `None` if no part of the name does.
fn workload(kernel: &str, name: NameForm) -> Option<Vec<String>> {
    let own = if matches!(name, NameForm::Mangled) { kernel.to_owned() } else { base_name(kernel) };
    let is_read = |one: char| OPERATORS.contains(one) || is_hidden(one);
    // The first of the longest parts.
    let part = own.split(is_read).reduce(|best, next| if next.len() > best.len() { next } else { best })?.trim();
    let words: String = part.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '_' }).collect();
    let workload: String = words.trim_matches('_').chars().take(LONGEST_WORKLOAD).collect();
    if part.is_empty() || workload.is_empty() {
        return None;
    }
    let mut words = vec!["--name".to_owned(), workload];
    words.extend(with_value("--kernel", part.to_owned()));
    Some(words)
}

/// An option with its value, joined into one word if the value would be read as an option.
fn with_value(option: &str, value: String) -> Vec<String> {
    if value.starts_with('-') { vec![format!("{option}={value}")] } else { vec![option.to_owned(), value] }
}

/// A regular expression that finds a text. Invisible characters match any character, but a dot matches no line end. rocprofv3 matches
/// bytes, and a character has up to four.
pub fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for character in text.chars() {
        if is_hidden(character) {
            pattern.push_str(match (character.is_ascii(), character.is_whitespace()) {
                (true, true) => r"\s",
                (true, false) => ".",
                (false, _) => ".{1,4}",
            });
            continue;
        }
        if OPERATORS.contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// The commands for passes of the missing counters, and for the definitions of accumulations.
fn counter_commands(
    recommendation: &Recommendation,
    kernel: Option<&str>,
    filter: &[String],
    collected: &Collected,
) -> Vec<Command> {
    let Some(architecture) = collected.architecture() else { return Vec::new() };
    let counted = kernel.is_some_and(|kernel| collected.counted_kernels.contains(kernel));
    let none = BTreeSet::new();
    let there = if counted { &collected.counters } else { &none };
    let Some(passes) = passes(&recommendation.counters, architecture, there) else { return Vec::new() };
    let mut commands = Vec::new();
    if accumulation_definitions(&passes, architecture).is_some() {
        let mut words: Vec<String> =
            ["wavesieve", "plan", "--arch", architecture, "--metrics-of"].map(ToOwned::to_owned).to_vec();
        words.extend(recommendation.counters.iter().cloned());
        words.extend(["-f", "definitions", "-o", DEFINITIONS].map(ToOwned::to_owned));
        let description = "Define the accumulations that the passes need".to_owned();
        commands.push(Command { tool: "wavesieve".to_owned(), description, words });
    }
    for (at, pass) in passes.iter().enumerate() {
        let number = at + 1;
        let collection = wavesieve_model::analysis::counter_plan::Collection {
            directory: collected.output(&recommendation.directory),
            definitions: Some(DEFINITIONS.to_owned()),
            program: collected.program.clone(),
        };
        let mut words = wavesieve_model::analysis::counter_plan::pass_command(pass, number, &collection);
        // Any number of counters may follow, so the filter comes before them.
        words.splice(1..1, filter.iter().cloned());
        let of = if passes.len() > 1 { format!(" (pass {number} of {})", passes.len()) } else { String::new() };
        let description = format!("{}{of}", recommendation.description);
        commands.push(Command { tool: "rocprofv3".to_owned(), description, words });
    }
    commands
}

/// Passes for the counters of panels that are not collected yet; `None` if there are none, or if they cannot be collected.
fn passes(panels: &[String], architecture: &str, there: &BTreeSet<String>) -> Option<Vec<Pass>> {
    let definitions = Definitions::builtin();
    let facts = CounterBlocks::builtin();
    let blocks = facts.for_architecture(architecture, &BTreeMap::new()).ok()?;
    let mut resolver = Resolver::new(&definitions, facts, &blocks, Normalization::Wave);
    resolver.add_all(panels).ok()?;
    let resolved = resolver.finish();
    let mut items = items(&resolved, &blocks, &definitions.accumulated, Accumulations::Defined, false).ok()?;
    items.retain(|item: &Item| !item.names.iter().all(|name| there.contains(name)));
    if items.is_empty() {
        return None;
    }
    let together: Vec<BTreeSet<String>> =
        resolved.of.values().map(wavesieve_model::analysis::counter_plan::Needs::all).collect();
    plan(&items, &blocks.limits, &together).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavesieve_model::analysis::counter_plan::{check, words};

    fn collected(kinds: &[&str], architecture: &str) -> Collected {
        Collected {
            kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
            counters: BTreeSet::new(),
            counted_kernels: BTreeSet::new(),
            traced_kernels: BTreeSet::new(),
            architectures: BTreeSet::from([architecture.to_owned()]),
            program: vec!["./app".to_owned()],
            commands: BTreeSet::new(),
            name: NameForm::Full,
            visible_gpus: None,
            serialized_ranks: BTreeSet::new(),
            rocm: None,
            ..Collected::default()
        }
    }

    fn about(name: &str, kernel: &str, collected: &Collected) -> Vec<Command> {
        commands(name, Some(&KernelTarget::named(kernel, collected.name)), collected)
    }

    #[test]
    fn the_file_can_be_read() {
        let all: BTreeMap<String, Recommendation> = toml::from_str(RECOMMENDATIONS).unwrap();
        assert!(all.values().all(|one| one.flags.is_empty() || one.counters.is_empty()));
        assert!(all.values().all(|one| one.directory.is_empty() == (one.tool != ROCPROFV3)));
        assert!(is_recommendation("host_trace") && !is_recommendation("host"));
    }

    /// Every recommendation on every architecture, about kernels with names that a shell or a regular expression would interpret.
    #[test]
    fn profilers_take_all_commands() {
        let long = format!("void ns::kernel<{}>(int)", "float, ".repeat(40));
        for architecture in ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "unknown"] {
            let collected = collected(&[], architecture);
            for name in recommendations().keys() {
                for kernel in [
                    "gemm",
                    "kernel'; rm -rf / #",
                    "void f<1, (a)2>(int*, [x])",
                    long.as_str(),
                    "$(x)",
                    "-rf",
                    "--help",
                    "a\nb\u{1b}[2J",
                    "(*)",
                    "\u{202e}txt",
                    "zero\0",
                ] {
                    let target = KernelTarget::named(kernel, collected.name);
                    for command in commands(name, Some(&target), &collected) {
                        // A shell must read the intended words, and a terminal must display all that is there.
                        let line = command.line();
                        assert_eq!(words(&line).as_ref(), Some(&command.words), "{line}");
                        assert!(!line.chars().any(|one| one.is_control() || one == '\u{202e}'), "{line:?}");
                        assert!(!command.words.iter().any(|word| word.contains('\0')), "{line:?}");
                        if command.tool != "wavesieve" {
                            assert_eq!(check(&command.words), [], "{line}");
                        }
                    }
                }
            }
        }
        let of = |name: &str| about(name, "a.b", &collected(&[], "gfx942"));
        assert_eq!(of("kernel_counters").len(), 3);
        assert!(of("kernel_counters").iter().skip(1).all(|one| one.line().contains(r"--kernel-include-regex 'a\.b'")));
        let profile = |kernel: &str| about("kernel_profile", kernel, &collected(&[], "gfx942"))[0].line();
        assert_eq!(profile("-rf"), "rocprof-compute profile --name rf --kernel=-rf -- ./app");
        assert_eq!(
            profile("void ns::gemm<float, 4>(float*)"),
            "rocprof-compute profile --name gemm --kernel gemm -- ./app"
        );
        assert!(about("kernel_profile", "gemm", &collected(&[], "gfx1100")).is_empty());
        let sampled = |name: &str, architecture: &str| commands(name, None, &collected(&[], architecture)).len();
        let methods =
            |architecture: &str| ["pc_sampling", "pc_sampling_host_trap"].map(|name| sampled(name, architecture));
        assert_eq!(["gfx908", "gfx90a", "gfx942", "gfx950"].map(methods), [[0, 0], [0, 1], [1, 0], [1, 0]]);
        assert!(of("pc_sampling").len() == 1 && commands("pc_sampling", None, &collected(&[], "gfx1100")).is_empty());
    }

    /// Every recommendation on every architecture for releases of ROCm: no command has a flag that the release lacks.
    #[test]
    fn releases_take_all_commands_for_them() {
        let mut counts = BTreeMap::new();
        for release in ["6.3", "6.4", "7.0", "7.2", "7.13", "7.14", "10.0", "10.1", "10.2", "11.0"] {
            for architecture in ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1151", "gfx1201", "unknown"] {
                let mut collected = collected(&[], architecture);
                collected.rocm = Some(release.parse().unwrap());
                for name in recommendations().keys() {
                    for command in about(name, "void gemm<float>(float*)", &collected) {
                        *counts.entry(release).or_insert(0) += 1;
                        if command.tool != OWN {
                            assert_eq!(check_for(&command.words, collected.rocm), [], "{}", command.line());
                        }
                    }
                }
            }
        }
        assert!(counts.values().all(|count| *count > 30), "{counts:?}");
        // Commands without a release must suit all releases from 7.0 on.
        for name in recommendations().keys() {
            for command in about(name, "gemm", &collected(&[], "gfx942")).iter().filter(|one| one.tool != OWN) {
                for release in ["7.0", "7.2", "7.14", "10.1", "11.0"] {
                    let problems = check_for(&command.words, Some(release.parse().unwrap()));
                    assert_eq!(problems, [], "{} of {release}", command.line());
                }
            }
        }
        let line = |name: &str, release: &str| {
            let mut collected = collected(&[], "gfx942");
            collected.rocm = Some(release.parse().unwrap());
            about(name, "gemm", &collected).first().map(Command::line).unwrap_or_default()
        };
        assert_eq!(
            ["7.14", "10.0"].map(|release| line("kernel_profile", release)),
            [
                "rocprof-compute profile --name gemm --kernel gemm -- ./app",
                "rocprof-compute profile --overwrite --name gemm --kernel gemm -- ./app"
            ]
        );
        assert!(line("host_trace", "6.4").contains("--output-format json"));
        assert_eq!(line("thread_trace", "6.4"), "");
        assert_eq!(line("host_samples", "10.1"), "rocprof-sys-sample --output-format rocpd text -- ./app");
    }

    /// AMD's profilers are recommended where AMD's tools recorded AMD's GPUs, and nowhere else.
    #[test]
    fn other_profilers_get_no_commands_of_amd() {
        for profilers in [Profilers::PyTorch, Profilers::Others] {
            for architecture in ["gfx942", "sm_90", "unknown"] {
                let collected = Collected { profilers, ..collected(&[], architecture) };
                let made = recommendations().keys().flat_map(|name| about(name, "gemm", &collected));
                assert_eq!(made.collect::<Vec<Command>>(), []);
            }
        }
    }

    #[test]
    fn nothing_is_collected_twice() {
        assert!(commands("host_trace", None, &collected(&["hip"], "gfx942")).is_empty());
        assert_eq!(commands("copy_trace", None, &collected(&["hip"], "gfx942")).len(), 1);
        let mut counted = collected(&["hip"], "gfx942");
        counted.counted_kernels.insert("gemm".to_owned());
        let all: BTreeSet<String> = passes(&["bottleneck_evidence".to_owned()], "gfx942", &BTreeSet::new())
            .unwrap()
            .iter()
            .flat_map(Pass::names)
            .map(ToOwned::to_owned)
            .collect();
        counted.counters = all.iter().filter(|name| *name != "TCC_REQ").cloned().collect();
        let lacking = about("kernel_counters", "gemm", &counted);
        assert_eq!(lacking.len(), 1);
        assert!(lacking[0].line().contains("--pmc TCC_REQ --output-format"), "{}", lacking[0].line());
        // Another kernel was not counted.
        assert!(about("kernel_counters", "copy", &counted).len() > 1);
        counted.counters = all;
        assert!(about("kernel_counters", "gemm", &counted).is_empty());
        assert!(about("kernel_profile", "gemm", &counted).is_empty());
        assert_eq!(about("kernel_profile", "copy", &counted).len(), 1);
        counted.traced_kernels.insert("gemm".to_owned());
        assert!(about("thread_trace", "gemm", &counted).is_empty());
    }
}
