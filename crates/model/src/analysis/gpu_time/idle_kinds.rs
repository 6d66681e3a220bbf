//! Kinds of what the host does while GPUs are idle, by the names of calls, functions and ranges and the states of threads, with what helps against
//! each.

use serde::Deserialize;

/// A kind of activity of the host.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleKind {
    /// Its id, snake_case.
    pub kind: String,
    #[serde(rename = "doc")]
    _doc: String,
    /// The same as a noun.
    pub noun: String,
    /// Whether such a call keeps its thread from launching, so that neither graphs nor fusion shorten the idle time.
    #[serde(default)]
    pub blocks: bool,
    /// Patterns of names of API calls.
    #[serde(default)]
    calls: Vec<String>,
    /// Patterns of names of operators, functions and ranges.
    #[serde(default)]
    functions: Vec<String>,
    /// States of threads in `thread_states`.
    #[serde(default)]
    states: Vec<String>,
    /// Where a thread in such a state is: "in PHRASE".
    pub phrase: Option<String>,
    /// Templates of what to do, the first helps most.
    pub advice: Vec<String>,
    /// Public pages that the advice follows.
    pub sources: Vec<String>,
}

/// All kinds, in the order in which they are tried.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleKinds {
    #[serde(rename = "kind")]
    kinds: Vec<IdleKind>,
}

impl IdleKinds {
    /// Those of `share/rules/idle_causes.toml`.
    pub fn builtin() -> &'static Self {
        shared!(IdleKinds, "share/rules/idle_causes.toml")
    }

    /// The kind of an API call.
    pub fn of_call(&self, name: &str) -> Option<&IdleKind> {
        self.find(name, |kind| &kind.calls)
    }

    /// The kind of an operator, function or range. What it calls belongs to it.
    pub fn of_function(&self, name: &str) -> Option<&IdleKind> {
        self.find(name, |kind| &kind.functions)
    }

    /// The kind of a state of a thread outside of recorded calls.
    pub fn of_state(&self, name: &str) -> Option<&IdleKind> {
        self.find(name, |kind| &kind.states)
    }

    fn find(&self, name: &str, patterns: impl Fn(&IdleKind) -> &Vec<String>) -> Option<&IdleKind> {
        let name = name.to_lowercase();
        self.kinds.iter().find(|kind| patterns(kind).iter().any(|pattern| matches(pattern, &name)))
    }
}

/// Whether a pattern stands for a whole name; `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, others)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let (middle, last) = others.rsplit_once('*').unwrap_or(("", others));
    for part in middle.split('*').filter(|part| !part.is_empty()) {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_kinds_are_whole() {
        let kinds = toml::from_str::<IdleKinds>(data!("share/rules/idle_causes.toml")).unwrap().kinds;
        let ids: BTreeSet<&str> = kinds.iter().map(|kind| kind.kind.as_str()).collect();
        assert_eq!(ids.len(), kinds.len());
        for kind in &kinds {
            assert!(kind.calls.len() + kind.functions.len() + kind.states.len() > 0, "{}", kind.kind);
            assert_eq!(kind.phrase.is_some(), !kind.states.is_empty(), "{}", kind.kind);
            let patterns = kind.calls.iter().chain(&kind.functions).chain(&kind.states);
            assert!(patterns.into_iter().all(|one| !one.is_empty() && *one == one.to_lowercase()), "{}", kind.kind);
            assert!(!kind.advice.is_empty() && !kind.sources.is_empty(), "{}", kind.kind);
            assert!(kind.sources.iter().all(|source| source.starts_with("https://")), "{}", kind.kind);
        }
    }

    #[test]
    fn patterns_stand_for_whole_names() {
        for (pattern, name, expected) in [
            ("hipfree", "hipfree", true),
            ("hipfree", "hipfreeasync", false),
            ("hipmodule*", "hipmoduleload", true),
            ("*synchronize", "hipstreamsynchronize", true),
            ("*synchronize", "hipstreamsynchronize_spt", false),
            ("a*a", "a", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn names_have_their_kinds() {
        let kinds = IdleKinds::builtin();
        for (call, expected) in [
            ("hipFree", Some("allocator")),
            ("hipMalloc", Some("allocator")),
            ("cudaFree", Some("allocator")),
            ("cudaHostAlloc", Some("allocator")),
            ("hipHostFree", Some("allocator")),
            ("cuMemAlloc_v2", Some("allocator")),
            ("hipFreeAsync", None),
            ("cudaMallocAsync", None),
            ("hipMemcpyWithStream", Some("blocking_copy")),
            ("cudaMemcpy", Some("blocking_copy")),
            ("hipMemcpyDtoH", Some("blocking_copy")),
            ("hipMemcpyAsync_spt", Some("asynchronous_copy")),
            ("hipMemcpyDtoHAsync", Some("asynchronous_copy")),
            ("hipStreamSynchronize", Some("synchronization")),
            ("hipDeviceSynchronize_spt", Some("synchronization")),
            ("cuCtxSynchronize", Some("synchronization")),
            ("hsa_signal_wait_scacquire", Some("synchronization")),
            ("hipModuleLoadData", Some("module")),
            ("hiprtcCompileProgram", Some("module")),
            ("cuModuleLoadDataEx", Some("module")),
            ("hipModuleLaunchKernel", Some("launch")),
            ("hipExtModuleLaunchKernel", Some("launch")),
            ("cudaLaunchKernelExC_v11060", Some("launch")),
            ("hipGraphLaunch", Some("launch")),
            ("hipGraphInstantiate", Some("graph")),
            ("ncclCommInitRankConfig", Some("communication")),
            ("MPI_Allreduce", Some("communication")),
            ("hipGetDevice", None),
        ] {
            assert_eq!(kinds.of_call(call).map(|kind| kind.kind.as_str()), expected, "{call}");
        }
        for (name, expected) in [
            ("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", Some("data_loader")),
            ("torch/utils/data/dataloader.py(733): __next__", Some("data_loader")),
            ("torch/_dynamo/convert_frame.py(1106): __call__", Some("compiler")),
            ("torch/nn/modules/module.py(1747): _call_impl", None),
            ("aten::add", None),
        ] {
            assert_eq!(kinds.of_function(name).map(|kind| kind.kind.as_str()), expected, "{name}");
        }
    }
}
