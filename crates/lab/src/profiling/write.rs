//! The output folder of a profile.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;
use walkdir::WalkDir;

use super::collecting::Recorded;
use super::documents::{Documents, Parts};
use super::evidence::Evidence;
use super::page::add_profile;
use wavesieve_export::atomic::write_file;
use wavesieve_files::regular::{self, LARGE_BYTES};
use wavesieve_input::UNFINISHED;
use wavesieve_report::html;

/// The files and folders in the folder of a profile.
const NAMES: [&str; 6] = [PROFILE, "roofline.json", "dag.json", "analysis.json", PAGE, TRACES];
const PROFILE: &str = "profile.json";
const PAGE: &str = "report.html";
/// Lists the recorded files in the folder of traces, so that no other files are replaced.
const INDEX: &str = "files.txt";
/// Name of the folder with the recorded files.
pub const TRACES: &str = "traces";

/// The present content of the output path of a profile.
#[derive(Debug, PartialEq, Eq)]
pub enum ProfilePlace {
    /// Nothing.
    Free,
    /// An earlier profile.
    Ours,
    /// Foreign content, with the reason why it stays.
    Foreign(String),
}

/// Inspects the output path of a profile.
///
/// # Errors
/// When the folder cannot be read.
pub fn place(path: &Path) -> Result<ProfilePlace> {
    if path.symlink_metadata().is_err() {
        return Ok(ProfilePlace::Free);
    }
    if !path.is_dir() {
        return Ok(ProfilePlace::Foreign("is a file".to_owned()));
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    // Leftovers of a killed run are of no use.
    names.retain(|name| !name.starts_with(UNFINISHED));
    names.sort();
    if names.is_empty() {
        return Ok(ProfilePlace::Free);
    }
    if let Some(foreign) = names.iter().find(|name| !NAMES.contains(&name.as_str())) {
        return Ok(ProfilePlace::Foreign(format!("holds other files ({foreign})")));
    }
    let text = regular::read(&path.join(PROFILE), LARGE_BYTES).unwrap_or_default();
    let profile: Value = serde_json::from_slice(&text).unwrap_or_default();
    if profile.pointer("/generator/name").and_then(Value::as_str) != Some("wavesieve") {
        return Ok(ProfilePlace::Foreign(format!("holds no profile of wavesieve ({PROFILE} is missing or changed)")));
    }
    let known = regular::read_text(&path.join(TRACES).join(INDEX), LARGE_BYTES).unwrap_or_default();
    let known: BTreeSet<&str> = known.lines().collect();
    let found = recorded_files(&path.join(TRACES))?;
    Ok(match found.iter().find(|name| !known.contains(name.as_str())) {
        Some(foreign) => ProfilePlace::Foreign(format!("holds other files ({TRACES}/{foreign})")),
        None => ProfilePlace::Ours,
    })
}

/// Files below a folder of traces, without the list of files.
fn recorded_files(traces: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in WalkDir::new(traces).sort_by_file_name() {
        let entry = entry.with_context(|| format!("cannot list {}", traces.display()))?;
        let name = entry.path().strip_prefix(traces).unwrap_or(entry.path()).to_string_lossy().into_owned();
        if !entry.file_type().is_dir() && name != INDEX {
            names.push(name);
        }
    }
    Ok(names)
}

/// Writes the documents and the page of a profile into a folder. Paths below `folder` become paths below `settled`, its
/// final place.
///
/// # Errors
/// When a file cannot be written.
pub fn write_all(
    folder: &Path,
    settled: &Path,
    recorded: &Recorded,
    evidence: Evidence,
    parts: &Parts,
    documents: &mut Documents,
) -> Result<()> {
    let (from, to) = (folder.to_string_lossy().into_owned(), settled.to_string_lossy().into_owned());
    documents.settle(&from, &to);
    for (name, value) in documents.files() {
        write_file(&folder.join(name), |out| {
            serde_json::to_writer_pretty(&mut *out, value)?;
            Ok(writeln!(out)?)
        })?;
    }
    let mut document = evidence.analysis.document;
    add_profile(&mut document, recorded, parts)?;
    let places = document.provenance.inputs.iter_mut().map(|input| &mut input.path);
    for text in places.chain(document.notes.iter_mut().map(|note| &mut note.text)) {
        *text = text.replace(&from, &to);
    }
    write_file(&folder.join(PAGE), |out| html::write(&document, out))?;
    let traces = folder.join(TRACES);
    let names = recorded_files(&traces)?;
    write_file(&traces.join(INDEX), |out| Ok(names.iter().try_for_each(|name| writeln!(out, "{name}"))?))
}
