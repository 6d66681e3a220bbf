//! The folder of a profile.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::collecting::Recorded;
use super::documents::{Documents, Parts};
use super::evidence::Evidence;
use super::page::add_profile;
use crate::export::atomic::write_file;
use crate::report::html;

/// What a folder of a profile holds.
const NAMES: [&str; 6] = ["profile.json", "roofline.json", "dag.json", "analysis.json", PAGE, TRACES];
const PAGE: &str = "report.html";
/// Name of the folder with what was recorded.
pub(crate) const TRACES: &str = "traces";

/// What is where a profile is to be written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nothing.
    Free,
    /// An earlier profile.
    Ours,
    /// Something else, for example this.
    Foreign(String),
}

/// What is where a profile is to be written.
///
/// # Errors
/// When the folder cannot be read.
pub(crate) fn place(path: &Path) -> Result<Place> {
    if path.symlink_metadata().is_err() {
        return Ok(Place::Free);
    }
    if !path.is_dir() {
        return Ok(Place::Foreign("a file".to_owned()));
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    if names.is_empty() {
        return Ok(Place::Free);
    }
    if let Some(foreign) = names.iter().find(|name| !NAMES.contains(&name.as_str())) {
        return Ok(Place::Foreign(foreign.clone()));
    }
    let text = fs::read(path.join("profile.json")).unwrap_or_default();
    let profile: Value = serde_json::from_slice(&text).unwrap_or_default();
    let is_ours = profile.pointer("/generator/name").and_then(Value::as_str) == Some("wavesieve");
    Ok(if is_ours { Place::Ours } else { Place::Foreign(names.first().cloned().unwrap_or_default()) })
}

/// Writes the documents and the page of a profile into a folder. Paths below `folder` become paths below `settled`, where it will be.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write_all(
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
    write_file(&folder.join(PAGE), |out| html::write(&document, out))
}
