//! Options of PyTorch's profiler that record what a trace lacks: `share/rules/torch_profiler.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use minijinja::value::Value;
use serde::Deserialize;

use super::collected::{Collected, Profilers};
use super::recommendations::torch_options;
use super::texts::rendered;

const OPTIONS: &str = data!("share/rules/torch_profiler.toml");

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TorchProfiler {
    advice: String,
    option: BTreeMap<String, TorchOption>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TorchOption {
    code: String,
    #[serde(default)]
    records: Option<String>,
    lacking: String,
    #[serde(rename = "source")]
    _source: String,
}

fn profiler() -> &'static TorchProfiler {
    static ALL: OnceLock<TorchProfiler> = OnceLock::new();
    // A test excludes that the file is wrong.
    ALL.get_or_init(|| toml::from_str(OPTIONS).unwrap_or_default())
}

/// Advice to record more with PyTorch's profiler, for recommendations of a trace that it recorded. None if it has all that these
/// collect.
pub(super) fn torch_advice<'a>(wanted: impl Iterator<Item = &'a str>, collected: &Collected) -> Option<String> {
    if collected.profilers != Profilers::PyTorch {
        return None;
    }
    let names: BTreeSet<&str> = wanted.flat_map(torch_options).map(String::as_str).collect();
    let options = || names.iter().filter_map(|name| Some((*name, profiler().option.get(*name)?)));
    let is_there = |name: &str, option: &TorchOption| {
        collected.profiler_options.contains(name)
            || option.records.as_ref().is_some_and(|kind| collected.kinds.contains(kind))
    };
    let lacking: Vec<&str> =
        options().filter(|(name, option)| !is_there(name, option)).map(|(_, option)| option.lacking.as_str()).collect();
    let (last, others) = lacking.split_last()?;
    let lacking = if others.is_empty() { (*last).to_owned() } else { format!("{} and {last}", others.join(", ")) };
    let code: Vec<&str> = options().map(|(_, option)| option.code.as_str()).collect();
    let values = [("options", code.join(", ")), ("lacking", lacking)];
    let values = BTreeMap::from(values.map(|(name, text)| (name.to_owned(), Value::from(text))));
    rendered(&profiler().advice, &values).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(kinds: &[&str], options: &[&str]) -> Collected {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Collected {
            kinds: owned(kinds),
            profiler_options: owned(options),
            profilers: Profilers::PyTorch,
            ..Collected::default()
        }
    }

    #[test]
    fn the_file_can_be_read() {
        let read: TorchProfiler = toml::from_str(OPTIONS).unwrap();
        assert_eq!(read.option.len(), 4);
        for name in ["host_trace", "allocation_trace", "kernel_profile", "whole_trace"] {
            assert!(torch_options(name).iter().all(|option| read.option.contains_key(option)), "{name}");
            assert!(!torch_options(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn traces_of_pytorch_are_recorded_again_with_what_they_lack() {
        let of = |kinds: &[&str], options: &[&str]| torch_advice(["host_trace"].into_iter(), &traced(kinds, options));
        let options = "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True";
        let advice = |lacking: &str| {
            Some(format!("Record again with `torch.profiler.profile({options})`; the trace lacks {lacking}"))
        };
        assert_eq!(of(&[], &[]), advice("API calls and operators of the host and Python functions"));
        assert_eq!(of(&["hip"], &[]), advice("Python functions"));
        assert_eq!(of(&["hip", "python"], &[]), None);
        assert_eq!(of(&["hip"], &["with_stack"]), None);
        let rocm = Collected { profilers: Profilers::Rocm, ..traced(&[], &[]) };
        assert_eq!(torch_advice(["host_trace"].into_iter(), &rocm), None);
    }
}
