//! Requests to a language model: what to optimize, and edits of source files.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use minijinja::context;
use regex::Regex;
use serde_json::json;

use super::driver::Machine;
use super::error::Halt;
use super::findings::{Item, source_folder};
use super::judging::blacklist_block;
use super::records::EditStatus;
use crate::interactive::edits::Edit;
use crate::interactive::face::Level;
use wavesieve_agent::llm::{LlmError, Message, Narrator, Outcome, Request, Role, Share, ask_chain, filled};
use wavesieve_files::regular;
use wavesieve_report::document::{Block, Section};
use wavesieve_source::scan::{Limits, list};

const SYSTEM: &str = data!("templates/llm/edit.md");
const REQUEST: &str = data!("templates/llm/edit_request.md");

/// Files that are offered to be edited.
const MOST_FILES: usize = 15;
/// Maximum bytes of source code that are sent to a model.
const SOURCE_BYTES: u64 = 60_000;
/// Maximum number of answers from a model until one is an edit.
const MOST_ANSWERS: u32 = 3;
/// Folders with old copies of the program.
const OLD_FOLDERS: [&str; 8] = ["original_code", "original", "backup", "bak", "old", "archive", "reference", "orig"];

impl Machine<'_> {
    pub fn has_model(&self) -> bool {
        self.narrator.is_some()
    }

    /// Asks the model about the analysis as a whole; prints and returns its answer.
    pub fn narrate(&mut self) -> Result<Option<Section>, Halt> {
        let (Some(narrator), Some(analyzed)) = (&self.narrator, &self.analyzed) else { return Ok(None) };
        self.face.begin_request("asking the model");
        let tools = self.tools;
        let outcome = narrator.narrate(&analyzed.analysis, tools.registry, tools.check_own, tools.listener);
        self.face.end();
        match outcome {
            Ok(Outcome::Written { section, line, warnings, not_kept }) => {
                self.event("model", json!({ "asked": line }));
                self.print_section(&section);
                self.say(Level::Note, line);
                for text in warnings.into_iter().chain(not_kept) {
                    self.say(Level::Warning, text);
                }
                return Ok(Some(section));
            }
            Ok(Outcome::Shown(text)) => self.say(Level::Text, text),
            Err(error) => self.say(Level::Error, format!("no answer: {error}")),
        }
        Ok(None)
    }

    fn print_section(&mut self, section: &Section) {
        self.say(Level::Heading, section.title.clone());
        self.say(Level::Note, section.about.clone());
        for block in &section.blocks {
            match block {
                Block::Note(note) if note.is_warning => self.say(Level::Warning, note.text.clone()),
                Block::Note(note) => self.say(Level::Text, note.text.clone()),
                Block::Table(table) => {
                    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
                    let rows = rows(table);
                    self.face.table(&names, &rows);
                }
                Block::Chart(_) => {}
            }
        }
    }

    /// Asks for the file that the model should edit. Files that findings name come first.
    pub(crate) fn choose_file(&mut self, items: &[Item]) -> Result<Option<PathBuf>, Halt> {
        let files = self.files(items);
        if files.is_empty() {
            self.say(Level::Error, "there is no source file to edit; name the source with --source-dir");
            return Ok(None);
        }
        let numbers: Vec<String> = (1..=files.len()).map(|number| number.to_string()).collect();
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        let mut choices: Vec<(&str, &str)> =
            numbers.iter().zip(&names).map(|(number, name)| (number.as_str(), name.as_str())).collect();
        choices.push(("m", "back to the menu"));
        let answer = self.choose("edit.file", "Which file?", &choices, Some("1"))?;
        let place = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        Ok(place.and_then(|place| files.get(place)).cloned())
    }

    /// Source files as edits name them: files in findings first, then files with kernels, then the rest.
    fn files(&self, items: &[Item]) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> =
            items.iter().filter_map(|item| item.place.as_ref()).map(|(file, _)| self.named(file)).collect();
        let Some(folder) = source_folder(&self.session.source_paths) else { return files };
        let base =
            if folder.is_dir() { folder.to_owned() } else { folder.parent().map(Path::to_owned).unwrap_or_default() };
        let tree = self.analyzed.as_ref().and_then(|analyzed| analyzed.analysis.source.as_ref());
        let kernels = tree.into_iter().flat_map(|tree| &tree.scan.detected_kernels);
        files.extend(kernels.map(|kernel| self.named(&base.join(&kernel.file))));
        for path in &self.session.source_paths {
            let listing = list(path, Limits::default()).unwrap_or_default();
            let is_old = |path: &Path| path.iter().any(|part| OLD_FOLDERS.iter().any(|old| part == *old));
            files.extend(listing.files.iter().filter(|file| !is_old(&file.below)).map(|file| self.named(&file.path)));
        }
        let root = self.root();
        let mut unique: Vec<PathBuf> = Vec::new();
        for file in files {
            if root.join(&file).is_file() && !unique.contains(&file) {
                unique.push(file);
            }
        }
        unique.truncate(MOST_FILES);
        unique
    }

    /// Requests an edit of a file from the model, and repeats the request if the answer is not an edit.
    pub(crate) fn edit_of_model(
        &mut self,
        root: &Path,
        findings: &[String],
        file: &Path,
    ) -> Result<Option<Edit>, Halt> {
        if !self.refresh()? {
            return Ok(None);
        }
        let path = root.join(file);
        let size = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        if size > SOURCE_BYTES {
            let text = format!("{} has {size} bytes; a model is sent {SOURCE_BYTES} at most", file.display());
            self.say(Level::Error, text);
            return Ok(None);
        }
        let source = match regular::read_text(&path, SOURCE_BYTES) {
            Ok(source) => source,
            Err(error) => {
                self.say(Level::Error, format!("cannot read {}: {error}", path.display()));
                return Ok(None);
            }
        };
        let mut problem: Option<String> = None;
        for _ in 0..MOST_ANSWERS {
            let answer = match self.ask_for_edit(findings, file, &source, problem.as_deref()) {
                Ok(Some(answer)) => answer,
                Ok(None) => return Ok(None),
                Err(error) => {
                    self.say(Level::Error, format!("no answer: {error}"));
                    if matches!(error, LlmError::Usage(_)) || !self.confirm("model.retry", "Ask again?", false)? {
                        return Ok(None);
                    }
                    continue;
                }
            };
            match edit_of_answer(root, &answer, file) {
                Ok(edit) => return Ok(Some(edit)),
                Err(reason) => {
                    self.event("edit_refused", json!({ "reason": reason }));
                    self.say(Level::Warning, &reason);
                    problem = Some(reason);
                }
            }
            if !self.confirm("model.retry", "The answer is not an edit that can be applied. Ask again?", true)? {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// The text of an answer; `None` if the request was only shown, or source code must not be sent.
    fn ask_for_edit(
        &mut self,
        findings: &[String],
        file: &Path,
        source: &str,
        problem: Option<&str>,
    ) -> Result<Option<String>, LlmError> {
        let (Some(narrator), Some(analyzed)) = (&self.narrator, &self.analyzed) else { return Ok(None) };
        if narrator.options().share < Share::Source {
            return Err(LlmError::Usage(
                "a model can edit source only if it may see it; add --llm-share source".to_owned(),
            ));
        }
        let relevant: Vec<&Item> = analyzed.items.iter().filter(|item| findings.contains(&item.id)).collect();
        let values = context! {
            findings => relevant.iter().map(|item| context! {
                title => item.title.clone(), explanation => item.explanation.clone(), advice => item.advice.clone(),
                priority => item.priority.word(),
            }).collect::<Vec<_>>(),
            blacklist => blacklist_block(&self.state.blacklist),
            rejected => self.rejected(file),
            failure => self.state.failure.clone(),
            problem => problem,
            file => file.display().to_string(),
            source => source,
        };
        let request = Request {
            system: SYSTEM.trim().to_owned(),
            messages: vec![Message { role: Role::User, text: filled("edit_request.md", REQUEST, values)? }],
            ..Request::default()
        };
        let gate = narrator.gate(narrator.redactor(narrator.names(&analyzed.analysis)));
        self.face.begin_request("asking the model for an edit");
        let reply = ask_chain(&gate, narrator.endpoints(), &request, self.tools.listener);
        self.face.end();
        let reply = match reply {
            Ok(reply) => reply,
            Err(LlmError::DryRun) => {
                self.face.say(Level::Text, &gate.shown());
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        self.face.event("model", json!({ "provider": reply.provider, "model": reply.model, "for": "edit" }));
        for warning in &reply.warnings {
            self.face.say(Level::Warning, warning);
        }
        if reply.is_cut {
            let reason = "the answer is cut off, and half an edit is not applied".to_owned();
            return Err(LlmError::Reply { provider: reply.provider, reason });
        }
        Ok(Some(gate.restored(&reply.text)))
    }

    /// Reverted edits of this file, so that a model does not repeat them.
    fn rejected(&self, file: &Path) -> Vec<String> {
        let is_of = |edit: &&super::records::EditRecord| {
            edit.status == EditStatus::Reverted && edit.edit.files.iter().any(|one| one.path == file)
        };
        let all = self.state.edits.iter().filter(is_of);
        let mut texts: Vec<String> =
            all.map(|edit| format!("{}\n{}", edit.problem.clone().unwrap_or_default(), edit.edit.diff())).collect();
        // The latest ones matter most.
        let first = texts.len().saturating_sub(2);
        texts.split_off(first)
    }
}

/// The edit of a file from an answer, or the reason why it cannot be applied.
pub(crate) fn edit_of_answer(root: &Path, answer: &str, file: &Path) -> Result<Edit, String> {
    let edit = Edit::from_answer(root, answer, &[file.to_owned()]).map_err(|error| error.to_string())?;
    if has_new_tokens(&edit) {
        let reason = "the answer adds a redaction token such as [SECRET_1]; leave lines with tokens unchanged";
        return Err(reason.to_owned());
    }
    Ok(edit)
}

/// Returns whether an edit adds redaction tokens that the file does not have.
fn has_new_tokens(edit: &Edit) -> bool {
    static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[[A-Z]+(_[A-Z]+)*_\d+\]").ok());
    let Some(token) = TOKEN.as_ref() else { return false };
    edit.files.iter().any(|file| {
        let before = file.before.as_deref().unwrap_or_default();
        let after = file.after.as_deref().unwrap_or_default();
        token.find_iter(after).any(|found| !before.contains(found.as_str()))
    })
}

fn rows(table: &wavesieve_report::document::Table) -> Vec<Vec<String>> {
    let columns = table.frame.columns();
    (0..table.frame.height())
        .map(|row| {
            columns
                .iter()
                .map(|column| column.str().ok().and_then(|texts| texts.get(row)).unwrap_or_default().to_owned())
                .collect()
        })
        .collect()
}

/// Commands in an answer that the profiler accepts, in their order.
pub(crate) fn confirmed_commands(section: &Section) -> Vec<String> {
    let tables = section.blocks.iter().filter_map(|block| match block {
        Block::Table(table) if table.id == "suggested_commands" => Some(rows(table)),
        _ => None,
    });
    let confirmed = |row: Vec<String>| match row.as_slice() {
        [command, confirmed, ..] if confirmed == "yes" => Some(command.clone()),
        _ => None,
    };
    tables.flatten().filter_map(confirmed).collect()
}

pub(crate) fn conversation_file(directory: &Path) -> PathBuf {
    directory.join("conversation.json")
}

pub fn narrator(tools: &super::driver::Tools<'_>, directory: &Path) -> Result<Option<Narrator>, LlmError> {
    (tools.narrator)(&conversation_file(directory))
}
