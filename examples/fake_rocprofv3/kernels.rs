//! What runs on the GPU: the lines of a file that the application, or what built it, wrote.

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
}

/// The kernels of a file that a command asks for; one of its own where there is no file.
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
            }),
            ["source", name, place] => {
                let (file, line) = place.rsplit_once(':').with_context(|| line.to_owned())?;
                sources.insert((*name).to_owned(), (file.to_owned(), line.parse()?));
            }
            _ => bail!("{line:?} is neither `kernel NAME CALLS DURATION_NS [NOISE_PCT]` nor `source NAME FILE:LINE`"),
        }
    }
    for kernel in &mut kernels {
        kernel.source = sources.get(&kernel.name).cloned();
    }
    Ok(kernels)
}
