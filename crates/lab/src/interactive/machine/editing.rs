//! An edit from its proposal to files that build and pass the test.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::driver::Machine;
use super::error::Halt;
use super::findings::below;
use super::records::{EditRecord, EditStatus};
use super::state::{Origin, Phase};
use crate::interactive::edits::{Edit, EditError, EditState};
use crate::interactive::face::Level;
use crate::interactive::programs::Application;
use crate::interactive::sessions::{EntryKind, HistoryEntry};
use wavesieve_files::regular::{self, SMALL_BYTES};

/// Maximum characters of a build's output that are kept for a model and the record.
const KEPT_OUTPUT: usize = 1500;
/// Lines of a failed build that are printed.
const SHOWN_LINES: usize = 20;
/// Maximum number of requests to a model to repair its edit.
const REPAIRS: u32 = 2;

impl Machine<'_> {
    pub fn propose(&mut self) -> Result<Phase, Halt> {
        let Some(origin) = self.state.origin.clone() else { return Ok(Phase::Menu) };
        let root = self.root();
        let (edit, summary) = match &origin {
            Origin::Patch { file } => {
                self.state.plan.patches.retain(|patch| patch != file);
                (self.edit_of_patch(&root, file)?, format!("patch {}", file.display()))
            }
            Origin::Editor { file, line } => {
                (self.edit_of_editor(&root, file, *line)?, format!("edited by hand at {}:{line}", file.display()))
            }
            Origin::Model { findings, file } => {
                let summary = self.summary_of(findings, file);
                (self.edit_of_model(&root, findings, file)?, summary)
            }
        };
        let Some(edit) = edit else {
            self.state.origin = None;
            return Ok(Phase::Menu);
        };
        let record = EditRecord {
            id: self.state.next_edit,
            timestamp: self.timestamp(),
            origin: origin.word().to_owned(),
            root,
            edit,
            // The changes of an editor are already in the files.
            status: if matches!(origin, Origin::Editor { .. }) { EditStatus::Applying } else { EditStatus::Proposed },
            summary,
            checkpoint: None,
            problem: None,
        };
        self.state.next_edit += 1;
        let fields = json!({ "edit": record.id, "origin": record.origin, "summary": record.summary, "files": record.edit.summary() });
        self.event("edit_proposed", fields);
        self.state.edits.push(record);
        Ok(Phase::Review)
    }

    fn edit_of_patch(&mut self, root: &Path, file: &Path) -> Result<Option<Edit>, Halt> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                self.say(Level::Error, format!("cannot read {}: {error}", file.display()));
                return Ok(None);
            }
        };
        let mut edit = Edit::from_patch(root, &text);
        let below = self.named(&self.session.root);
        if edit.is_err() && root != self.session.root {
            // The patch may be relative to the source folder, which lies below the top of the repository.
            let other = Edit::from_patch(&self.session.root, &text).map(|mut edit| {
                for file in &mut edit.files {
                    file.path = below.join(&file.path);
                }
                edit
            });
            edit = other.or(edit);
        }
        Ok(self.or_report(edit))
    }

    fn edit_of_editor(&mut self, root: &Path, file: &Path, line: u32) -> Result<Option<Edit>, Halt> {
        let Some(editor) = self.state.plan.editor.clone() else {
            self.say(Level::Error, "no editor is known; set EDITOR, or name a patch file");
            return Ok(None);
        };
        let path = root.join(file);
        let before = match regular::read_text(&path, SMALL_BYTES) {
            Ok(text) => text,
            Err(error) => {
                self.say(Level::Error, format!("cannot read {}: {error}", path.display()));
                return Ok(None);
            }
        };
        let words = match Application::of_line(&editor) {
            Ok(application) => application.words,
            Err(error) => {
                self.say(Level::Error, format!("EDITOR {editor:?} cannot be used: {error}"));
                return Ok(None);
            }
        };
        let arguments = words.into_iter().chain([format!("+{line}"), path.display().to_string()]).collect::<Vec<_>>();
        self.event("editor", json!({ "words": arguments }));
        // The editor has the terminal to itself while it runs.
        let status = arguments.split_first().map(|(program, rest)| {
            std::process::Command::new(program).args(rest).current_dir(&self.state.plan.folder).status()
        });
        self.face.forgive();
        if let Some(Err(error)) = status {
            self.say(Level::Error, format!("cannot run the editor: {error}; set EDITOR to one that exists"));
            return Ok(None);
        }
        let edit = self.or_report(Edit::from_editor(root, &[(file.to_owned(), Some(before))])).flatten();
        if edit.is_none() {
            self.say(Level::Note, "the editor changed nothing");
        }
        Ok(edit)
    }

    /// Returns the edit; on failure prints the reason.
    pub(crate) fn or_report<T>(&mut self, edit: Result<T, EditError>) -> Option<T> {
        match edit {
            Ok(edit) => Some(edit),
            Err(error) => {
                self.event("edit_refused", json!({ "reason": error.to_string() }));
                self.say(Level::Error, error.to_string());
                None
            }
        }
    }

    pub fn review(&mut self) -> Result<Phase, Halt> {
        let Some(record) = self.state.open_edit().cloned() else { return Ok(Phase::Menu) };
        self.face.diff(&record.edit.diff());
        let is_written = record.status == EditStatus::Applying;
        let text = format!("{} ({}). Apply?", record.summary, record.edit.summary());
        let text = if is_written { format!("{} ({}). Keep?", record.summary, record.edit.summary()) } else { text };
        if self.confirm("edit.apply", text, true)? {
            return Ok(Phase::Apply);
        }
        if is_written && !self.take_back(EditStatus::Refused, "not accepted")? {
            return Ok(Phase::Menu);
        }
        if let Some(edit) = self.state.open_edit_mut() {
            edit.status = EditStatus::Refused;
        }
        self.event("edit_refused", json!({ "edit": record.id, "reason": "not accepted" }));
        self.state.origin = None;
        Ok(Phase::Menu)
    }

    /// Writes the files of the current edit, unless they are written already, and makes a checkpoint.
    pub fn apply(&mut self) -> Result<Phase, Halt> {
        let Some(record) = self.state.open_edit().cloned() else { return Ok(Phase::Menu) };
        if let Some(edit) = self.state.open_edit_mut() {
            edit.status = EditStatus::Applying;
        }
        self.adopt_outside_changes(&record);
        // If the process dies while files are written, the record shows how far it came.
        self.save()?;
        let done = match record.edit.state(&record.root)? {
            EditState::After => Ok(()),
            // Leftovers of a killed process are removed first.
            _ if record.status == EditStatus::Applying => {
                record.edit.undo_partly(&record.root).and_then(|()| record.edit.apply(&record.root))
            }
            EditState::Before => record.edit.apply(&record.root),
            EditState::Neither(path) => {
                self.say(
                    Level::Error,
                    format!("{} changed since the edit was written; nothing was applied", path.display()),
                );
                return Ok(self.refused(record.id, "a file changed since"));
            }
        };
        if self.or_report(done).is_none() {
            return Ok(self.refused(record.id, "its files could not be written"));
        }
        if let Some(edit) = self.state.open_edit_mut() {
            edit.status = EditStatus::Applied;
        }
        let files: Vec<PathBuf> = record.edit.files.iter().map(|file| file.path.clone()).collect();
        self.event("edit_applied", json!({ "edit": record.id, "files": files }));
        let timestamp = self.timestamp();
        let entry = HistoryEntry {
            kind: EntryKind::CodeChange,
            timestamp,
            files_modified: files.iter().map(|file| file.display().to_string()).collect(),
            summary: record.summary.clone(),
            edit: serde_json::to_value(&record.edit).ok(),
            checkpoint: Some(self.state.next_checkpoint),
            ..HistoryEntry::default()
        };
        self.session.history.push(entry);
        self.checkpoint(&record, files);
        Ok(Phase::Build)
    }

    fn refused(&mut self, id: u64, problem: &str) -> Phase {
        if let Some(edit) = self.state.edits.iter_mut().find(|edit| edit.id == id) {
            edit.status = EditStatus::Refused;
            edit.problem = Some(problem.to_owned());
        }
        self.state.origin = None;
        Phase::Menu
    }

    pub fn build(&mut self) -> Result<Phase, Halt> {
        let command = self.state.plan.build.clone();
        self.check("build", command, EditStatus::Built, Phase::Test)
    }

    pub fn test(&mut self) -> Result<Phase, Halt> {
        let command = self.state.plan.test.clone();
        self.check("test", command, EditStatus::Ready, Phase::Next)
    }

    fn check(
        &mut self,
        what: &'static str,
        command: Option<String>,
        passed: EditStatus,
        next: Phase,
    ) -> Result<Phase, Halt> {
        let Some(id) = self.state.open_edit().map(|edit| edit.id) else { return Ok(Phase::Menu) };
        if let Some(line) = command {
            let application = Application::of_line(&line)?;
            self.event("command", json!({ "line": line, "for": what, "edit": id }));
            let title = format!("{what}: {line}");
            if let Err(failure) = self.run_program(&application.words, &application.environment, &title)? {
                return self.after_failed_check(what, &format!("the {what} failed: {}", failure.reason), &failure.tail);
            }
        } else if what == "build" && self.state.plan.test.is_none() && !self.wait_for_build()? {
            return Ok(Phase::Menu);
        }
        if let Some(edit) = self.state.open_edit_mut() {
            edit.status = passed;
        }
        self.state.is_stale = false;
        self.state.failure = None;
        self.event("edit_passed", json!({ "edit": id, "check": what }));
        Ok(next)
    }

    /// Without a build command, waits for the user to build. Returns false if the edit was reverted.
    fn wait_for_build(&mut self) -> Result<bool, Halt> {
        let choices = [("y", "it is built (if it must be), go on"), ("v", "take the edit back")];
        let answer = self.choose("edit.built", "Build the program now, if it must be built.", &choices, Some("y"))?;
        if answer == "v" {
            let error =
                self.text("edit.error", "What went wrong? (end with an empty line)", Some(String::new()), true)?;
            self.state.failure = Some(error.clone()).filter(|error| !error.is_empty());
            let problem = if error.is_empty() { "taken back".to_owned() } else { shortened(&error) };
            self.take_back(EditStatus::Reverted, &problem)?;
            return Ok(false);
        }
        Ok(true)
    }

    fn after_failed_check(&mut self, what: &'static str, reason: &str, tail: &str) -> Result<Phase, Halt> {
        self.show_failure(reason, tail, SHOWN_LINES);
        self.event(
            "check_failed",
            json!({ "check": what, "edit": self.state.open_edit().map(|edit| edit.id), "reason": reason }),
        );
        let output = shortened(tail);
        self.state.failure = Some(format!("{reason}\n{output}"));
        let can_repair = self.state.repairs < REPAIRS && matches!(self.state.origin, Some(Origin::Model { .. }));
        let mut choices = Vec::new();
        if can_repair && self.has_model() {
            choices.push(("f", "take it back and let the model write it again, with this output"));
        }
        choices.push(("v", "take the edit back"));
        choices.push(("r", "run the command again, after you mended it"));
        choices.push(("q", "stop here; the session can be resumed"));
        let default = choices.first().map(|(key, _)| *key);
        match self.choose("edit.failed", "The edit does not hold.", &choices, default)?.as_str() {
            "f" => {
                self.state.repairs += 1;
                let origin = self.state.origin.clone();
                if !self.take_back(EditStatus::Reverted, reason)? {
                    return Ok(Phase::Menu);
                }
                self.state.origin = origin;
                Ok(Phase::Propose)
            }
            "r" => self.taken_from_files(if what == "build" { Phase::Build } else { Phase::Test }),
            "q" => Err(Halt::Quit),
            _ => {
                self.take_back(EditStatus::Reverted, reason)?;
                Ok(Phase::Menu)
            }
        }
    }

    /// Adds later changes of the user to the current edit, so that it can still be reverted exactly.
    fn taken_from_files(&mut self, next: Phase) -> Result<Phase, Halt> {
        let Some(record) = self.state.open_edit().cloned() else { return Ok(Phase::Menu) };
        let before: Vec<(PathBuf, Option<String>)> =
            record.edit.files.iter().map(|file| (file.path.clone(), file.before.clone())).collect();
        let edit = self.or_report(Edit::from_editor(&record.root, &before)).flatten();
        if let (Some(edit), Some(open)) = (edit, self.state.open_edit_mut()) {
            open.edit = edit;
        }
        Ok(next)
    }

    /// Reverts the current edit, and returns whether it did. If its files changed since, asks the user. By default the
    /// edit stays with that change, which is never overwritten, and the session continues.
    pub(crate) fn take_back(&mut self, status: EditStatus, problem: &str) -> Result<bool, Halt> {
        self.state.origin = None;
        let Some(record) = self.state.open_edit().cloned() else { return Ok(true) };
        while let Err(error) = taken_back(&record) {
            if !matches!(error, EditError::Changed { .. } | EditError::NotEditable { .. }) {
                return Err(error.into());
            }
            self.say(Level::Warning, format!("the edit cannot be taken back: {error}"));
            let choices = [
                ("k", "leave the edit and that change in the files, and go on"),
                ("r", "take the edit back now, after you undid that change"),
                ("q", "stop here; the session can be resumed"),
            ];
            let text = format!("{}: its files were changed since.", record.summary);
            match self.choose("edit.changed", text, &choices, Some("k"))?.as_str() {
                "r" => {}
                "q" => return Err(Halt::Quit),
                _ => {
                    self.leave(&record, problem, &error);
                    return Ok(false);
                }
            }
        }
        if let Some(edit) = self.state.open_edit_mut() {
            edit.status = status;
            edit.problem = Some(problem.to_owned());
        }
        // Changes from an editor that were not accepted have not been built.
        self.state.is_stale |= record.status != EditStatus::Applying;
        self.analyzed = None;
        self.forget_checkpoint_of(record.id);
        self.event("edit_reverted", json!({ "edit": record.id, "reason": problem }));
        self.say(Level::Note, format!("taken back: {} ({})", record.summary, record.edit.summary()));
        Ok(true)
    }

    /// Leaves the current edit in files that changed since.
    fn leave(&mut self, record: &EditRecord, problem: &str, error: &EditError) {
        if let Some(edit) = self.state.open_edit_mut() {
            edit.status = EditStatus::Kept;
            edit.problem = Some(format!("{problem}, but not taken back: {error}"));
        }
        self.state.is_stale = true;
        self.analyzed = None;
        self.event("edit_left", json!({ "edit": record.id, "reason": error.to_string() }));
        self.say(Level::Note, format!("left in the files: {} ({})", record.summary, record.edit.summary()));
    }

    /// The purpose of an edit: the titles of findings, or the file.
    fn summary_of(&self, findings: &[String], file: &Path) -> String {
        let items = self.items();
        let titles: Vec<String> =
            items.iter().filter(|item| findings.contains(&item.id)).map(|item| item.title.clone()).collect();
        let text = titles.first().cloned().unwrap_or_else(|| format!("changes of {}", file.display()));
        text.chars().take(80).collect()
    }

    pub fn named(&self, file: &Path) -> PathBuf {
        below(&self.root(), file)
    }
}

fn taken_back(record: &EditRecord) -> Result<(), EditError> {
    match record.edit.state(&record.root)? {
        EditState::After => record.edit.revert(&record.root),
        // A killed process may have reverted it, fully or partly, before it could record that.
        EditState::Before | EditState::Neither(_) => record.edit.undo_partly(&record.root),
    }
}

/// The end of a text that is kept.
pub fn shortened(text: &str) -> String {
    let count = text.chars().count();
    text.chars().skip(count.saturating_sub(KEPT_OUTPUT)).collect()
}
