//! Kernels that run on the GPU: the lines of a file that the application, or the program that built it, wrote.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use regex::Regex;
use wavesieve::internal::words;

use crate::command::Command;

/// A kernel of the list.
#[derive(Debug, Clone)]
pub struct Kernel {
    pub name: String,
    pub calls: u64,
    pub duration_ns: u64,
    pub noise_percent: f64,
    /// File and line of its source.
    pub source: Option<(String, u64)>,
    /// Values of counters in each dispatch, over all instances.
    pub counters: BTreeMap<String, f64>,
    pub resources: Resources,
}

/// Resources of a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Resources {
    pub vgpr: u32,
    pub accum_vgpr: u32,
    pub sgpr: u32,
    pub lds_bytes: u32,
    /// Work-items of a workgroup.
    pub threads: u32,
}

impl Default for Resources {
    fn default() -> Self {
        Self { vgpr: 64, accum_vgpr: 0, sgpr: 32, lds_bytes: 0, threads: 256 }
    }
}

/// The kernels of a file that a command asks for; a built-in one without a file.
pub fn read(path: Option<&Path>, command: &Command) -> Result<Vec<Kernel>> {
    let usual = || "kernel axpy 100 10000 1\n".to_owned();
    let read = |path: &Path| std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
    let text = path.map_or_else(|| Ok(usual()), read)?;
    let mut kernels = parse(&text)?;
    let pattern = |text: &Option<String>| text.as_deref().map(Regex::new).transpose();
    let (include, exclude) = (pattern(&command.include)?, pattern(&command.exclude)?);
    kernels.retain(|kernel| {
        include.as_ref().is_none_or(|pattern| pattern.is_match(&kernel.name))
            && !exclude.as_ref().is_some_and(|pattern| pattern.is_match(&kernel.name))
    });
    Ok(kernels)
}

fn parse(text: &str) -> Result<Vec<Kernel>> {
    let mut kernels = Vec::new();
    let mut sources: BTreeMap<String, (String, u64)> = BTreeMap::new();
    let mut counters: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    let mut resources: BTreeMap<String, Resources> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let words = words(line).with_context(|| format!("cannot split {line:?}"))?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["kernel", name, calls, duration, rest @ ..] if rest.len() < 2 => kernels.push(Kernel {
                name: (*name).to_owned(),
                calls: calls.parse().with_context(|| line.to_owned())?,
                duration_ns: duration.parse().with_context(|| line.to_owned())?,
                noise_percent: rest.first().map_or(Ok(0.0), |noise| noise.parse()).with_context(|| line.to_owned())?,
                source: None,
                counters: BTreeMap::new(),
                resources: Resources::default(),
            }),
            ["counter", name, counter, value] => {
                let values = counters.entry((*name).to_owned()).or_default();
                values.insert((*counter).to_owned(), value.parse().with_context(|| line.to_owned())?);
            }
            ["resources", name, numbers @ ..] if numbers.len() == 5 => {
                let numbers: Vec<u32> = numbers
                    .iter()
                    .map(|number| number.parse())
                    .collect::<Result<_, _>>()
                    .with_context(|| line.to_owned())?;
                if let [vgpr, accum_vgpr, sgpr, lds_bytes, threads] = *numbers.as_slice() {
                    resources.insert((*name).to_owned(), Resources { vgpr, accum_vgpr, sgpr, lds_bytes, threads });
                }
            }
            ["source", name, place] => {
                let (file, line) = place.rsplit_once(':').with_context(|| line.to_owned())?;
                sources.insert((*name).to_owned(), (file.to_owned(), line.parse()?));
            }
            _ => bail!(
                "{line:?} is none of `kernel NAME CALLS DURATION_NS [NOISE_PCT]`, `source NAME FILE:LINE`, `counter NAME COUNTER VALUE` and `resources NAME VGPR ACCUM_VGPR SGPR LDS THREADS`"
            ),
        }
    }
    for kernel in &mut kernels {
        kernel.counters = counters.get(&kernel.name).cloned().unwrap_or_default();
        kernel.resources = resources.get(&kernel.name).copied().unwrap_or_default();
        kernel.source = sources.get(&kernel.name).cloned();
    }
    Ok(kernels)
}
