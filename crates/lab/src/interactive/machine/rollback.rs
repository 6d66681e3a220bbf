//! Checkpoints and rollbacks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::json;

use super::driver::Machine;
use super::error::Halt;
use super::records::{CheckpointRecord, EditRecord, EditStatus, Measurement};
use super::state::{ROLLED_BACK, State};
use crate::interactive::edits::{Edit, EditState, FileEdit};
use crate::interactive::face::Level;

/// Files and their texts; `None` for a file that does not exist.
pub type Texts = BTreeMap<PathBuf, Option<String>>;

impl Machine<'_> {
    /// Makes a checkpoint of the files after an edit. Without git only the texts are kept. It never fails, because a
    /// session continues without checkpoints.
    pub fn checkpoint(&mut self, edit: &EditRecord, files: Vec<PathBuf>) {
        let id = self.state.next_checkpoint;
        self.state.next_checkpoint += 1;
        let texts = texts_at(&self.state, self.state.checkpoints.len(), Some(edit));
        let parent = self.state.checkpoints.last().map(|one| one.id);
        let (mut commit, mut reference) = (None, None);
        if let Some(repository) = self.repository.clone() {
            let parent = self.state.checkpoints.iter().rev().find_map(|one| one.commit.clone());
            let parent = parent.or_else(|| self.state.baseline_commit.clone());
            let session = self.session.session_id.clone();
            let all: Vec<PathBuf> = texts.keys().cloned().collect();
            match repository.save(&session, id, parent.as_deref(), &all, &first_line(&edit.summary)) {
                Ok(saved) => (commit, reference) = (Some(saved.commit), Some(saved.reference)),
                Err(error) => self.say(
                    Level::Warning,
                    format!("no commit for checkpoint {id}: {error}; its texts are kept in the session"),
                ),
            }
        }
        let timestamp = self.timestamp();
        self.event("checkpoint", json!({ "checkpoint": id, "commit": commit, "reference": reference, "files": files }));
        self.state.checkpoints.push(CheckpointRecord {
            id,
            parent,
            commit,
            reference,
            timestamp,
            edit: edit.id,
            files_modified: files,
            edit_summary: first_line(&edit.summary),
            file_snapshots: texts,
            measurement: None,
            performance_delta_pct: None,
            verdict: None,
            blacklisted: false,
        });
        self.state.active_checkpoint = Some(id);
        if let Some(open) = self.state.open_edit_mut().filter(|open| open.id == edit.id) {
            open.checkpoint = Some(id);
        }
    }

    /// Turns outside changes of edited files into a separate edit, so that a rollback does not lose them.
    pub(crate) fn adopt_outside_changes(&mut self, edit: &EditRecord) {
        let known = texts_at(&self.state, self.state.checkpoints.len(), None);
        let changed = |file: &&FileEdit| known.get(&file.path).is_some_and(|text| *text != file.before);
        let files: Vec<FileEdit> = edit
            .edit
            .files
            .iter()
            .filter(changed)
            .map(|file| FileEdit {
                path: file.path.clone(),
                before: known.get(&file.path).cloned().flatten(),
                after: file.before.clone(),
                ..FileEdit::default()
            })
            .collect();
        if files.is_empty() {
            return;
        }
        let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
        let place = self.state.edits.len().saturating_sub(1);
        let record = EditRecord {
            id: self.state.next_edit,
            timestamp: self.timestamp(),
            origin: "outside".to_owned(),
            root: edit.root.clone(),
            edit: Edit { files },
            status: EditStatus::Kept,
            summary: "changed outside the session".to_owned(),
            checkpoint: Some(self.state.next_checkpoint),
            problem: None,
        };
        self.state.next_edit += 1;
        self.say(Level::Note, "files were changed outside the session; that is a checkpoint of its own");
        self.state.edits.insert(place, record.clone());
        self.checkpoint(&record, paths);
    }

    /// Forgets the checkpoint of a reverted edit as a rollback target. Its git reference stays.
    pub(crate) fn forget_checkpoint_of(&mut self, edit: u64) {
        let (gone, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.state.checkpoints).into_iter().partition(|one| one.edit == edit);
        self.state.checkpoints = kept;
        self.state.undone_checkpoints.extend(gone);
        self.state.active_checkpoint = self.state.checkpoints.last().map(|one| one.id);
    }

    /// Notes a measurement in the checkpoint that it belongs to.
    pub(crate) fn note_checkpoint(&mut self, measurement: &Measurement) {
        if let Some(last) = self.state.checkpoints.last_mut()
            && measurement.edit == Some(last.edit)
            && last.measurement.is_none()
        {
            last.measurement = Some(measurement.number);
            last.performance_delta_pct = measurement.judged.as_ref().and_then(|judged| judged.delta_pct);
            last.verdict = measurement.judged.as_ref().map(|judged| judged.verdict.clone());
        }
    }

    /// Asks for a target state, and restores it.
    pub(crate) fn roll_back(&mut self) -> Result<(), Halt> {
        if self.state.checkpoints.is_empty() && self.state.undone_checkpoints.is_empty() {
            self.say(Level::Note, "there is no checkpoint");
            return Ok(());
        }
        let mut all: Vec<CheckpointRecord> =
            self.state.checkpoints.iter().chain(&self.state.undone_checkpoints).cloned().collect();
        all.sort_by_key(|one| one.id);
        let rows: Vec<Vec<String>> = all.iter().map(row).collect();
        self.face.table(&["id", "edit", "measurement", "faster", "verdict", "files"], &rows);
        let ids: Vec<String> = all.iter().map(|one| one.id.to_string()).collect();
        let mut choices: Vec<(&str, &str)> = vec![("base", "the state before the first edit")];
        choices.extend(ids.iter().map(|id| (id.as_str(), "this checkpoint")));
        choices.push(("c", "stay"));
        let answer = self.choose("rollback.target", "Go back to", &choices, Some("c"))?;
        let target = match answer.as_str() {
            "c" => return Ok(()),
            "base" => None,
            id => id.parse::<u64>().ok(),
        };
        let chain = chain_to(&self.state, target);
        let slower: Vec<CheckpointRecord> = self
            .state
            .checkpoints
            .iter()
            .filter(|one| !chain.contains(&one.id))
            .filter(|one| one.performance_delta_pct.is_some_and(|pct| pct < 0.0) && !one.blacklisted)
            .cloned()
            .collect();
        for checkpoint in slower {
            let text = format!(
                "{} was slower ({}%). Never let a model suggest it again?",
                checkpoint.edit_summary,
                checkpoint.performance_delta_pct.unwrap_or(0.0)
            );
            if self.confirm("rollback.blacklist", text, true)? {
                let verdict = checkpoint.verdict.clone().unwrap_or_default();
                self.blacklist(&checkpoint.edit_summary, checkpoint.performance_delta_pct, &verdict);
                if let Some(one) = self.state.checkpoints.iter_mut().find(|one| one.id == checkpoint.id) {
                    one.blacklisted = true;
                }
            }
        }
        self.go_back(target)
    }

    /// Restores files to a checkpoint, or to their state before the first edit. Files that were changed outside the
    /// session stop it, so that nothing is lost.
    fn go_back(&mut self, target: Option<u64>) -> Result<(), Halt> {
        let root = self.state.edits.first().map_or_else(|| self.root(), |edit| edit.root.clone());
        let Some(way) = way_back(&self.state, target) else {
            self.say(Level::Error, "there is no such checkpoint");
            return Ok(());
        };
        match way.state(&root) {
            Ok(EditState::Before) => way.apply(&root)?,
            // A rollback that was interrupted.
            Ok(EditState::After) => {}
            Ok(EditState::Neither(path)) => {
                self.say(
                    Level::Error,
                    format!(
                        "{} was changed outside the session; commit or undo that change, then go back",
                        path.display()
                    ),
                );
                return Ok(());
            }
            Err(error) => {
                self.say(Level::Error, error.to_string());
                return Ok(());
            }
        }
        truncate(&mut self.state, target);
        self.analyzed = None;
        self.state.is_stale = true;
        let name = target.map_or_else(|| "the state before the first edit".to_owned(), |id| format!("checkpoint {id}"));
        self.event(
            "rolled_back",
            json!({ "target": target, "files": way.files.iter().map(|file| &file.path).collect::<Vec<_>>() }),
        );
        self.say(Level::Good, format!("the files are at {name}"));
        Ok(())
    }
}

fn row(one: &CheckpointRecord) -> Vec<String> {
    let files: Vec<String> = one.files_modified.iter().map(|path| path.display().to_string()).collect();
    vec![
        one.id.to_string(),
        one.edit_summary.clone(),
        one.measurement.map(|number| number.to_string()).unwrap_or_default(),
        one.performance_delta_pct.map(|pct| format!("{pct:+}%")).unwrap_or_default(),
        one.verdict.clone().unwrap_or_default(),
        files.join(", "),
    ]
}

/// The first line of a summary as a subject, without list markers.
pub fn first_line(summary: &str) -> String {
    let line = summary.lines().map(|line| line.trim_matches(['#', '-', '*', ' '])).find(|line| !line.is_empty());
    line.unwrap_or("edit").chars().take(80).collect()
}

/// The texts of all changed files from before the session.
pub(crate) fn texts_before(state: &State) -> Texts {
    let mut texts = Texts::new();
    for file in state.edits.iter().filter(|edit| edit.checkpoint.is_some()).flat_map(|edit| &edit.edit.files) {
        texts.entry(file.path.clone()).or_insert_with(|| file.before.clone());
    }
    texts
}

fn texts_at(state: &State, checkpoints: usize, edit: Option<&EditRecord>) -> Texts {
    let mut texts = texts_before(state);
    if let Some(checkpoint) = checkpoints.checked_sub(1).and_then(|last| state.checkpoints.get(last)) {
        texts.extend(checkpoint.file_snapshots.clone());
    }
    for file in edit.iter().flat_map(|edit| &edit.edit.files) {
        texts.insert(file.path.clone(), file.after.clone());
    }
    texts
}

/// The edit from the present files of the session to a checkpoint; `None` if the checkpoint does not exist.
pub(crate) fn way_back(state: &State, target: Option<u64>) -> Option<Edit> {
    let now = texts_at(state, state.checkpoints.len(), None);
    let before = texts_before(state);
    let then = match target {
        None => before.clone(),
        Some(id) => {
            let mut all = state.checkpoints.iter().chain(&state.undone_checkpoints);
            let mut texts = before.clone();
            texts.extend(all.find(|one| one.id == id)?.file_snapshots.clone());
            texts
        }
    };
    let files = now
        .into_iter()
        .map(|(path, text)| {
            // A file that only later edits touched then had its text from before all of them.
            let after = then.get(&path).or_else(|| before.get(&path)).cloned().flatten();
            FileEdit { before: text, after, path, ..FileEdit::default() }
        })
        .filter(|file| file.before != file.after)
        .collect();
    Some(Edit { files })
}

/// The checkpoints that led to a target, and the target, from the first one on.
fn chain_to(state: &State, target: Option<u64>) -> Vec<u64> {
    let mut chain: Vec<u64> = Vec::new();
    let mut next = target;
    while let Some(id) = next.filter(|id| !chain.contains(id)) {
        let mut all = state.checkpoints.iter().chain(&state.undone_checkpoints);
        let Some(checkpoint) = all.find(|one| one.id == id) else { break };
        chain.push(id);
        next = checkpoint.parent;
    }
    chain.reverse();
    chain
}

/// Splits all records at a checkpoint: those that led to it are in effect, also undone ones. The others are undone, and
/// can still be read.
pub fn truncate(state: &mut State, target: Option<u64>) {
    let chain = chain_to(state, target);
    let mut all = std::mem::take(&mut state.checkpoints);
    all.append(&mut state.undone_checkpoints);
    (state.checkpoints, state.undone_checkpoints) = all.into_iter().partition(|one| chain.contains(&one.id));
    state.checkpoints.sort_by_key(|one| chain.iter().position(|id| *id == one.id));
    let edits: Vec<u64> = state.checkpoints.iter().map(|one| one.edit).collect();
    let mut measurements = std::mem::take(&mut state.measurements);
    measurements.append(&mut state.undone_measurements);
    (state.measurements, state.undone_measurements) =
        measurements.into_iter().partition(|one| one.edit.is_none_or(|edit| edits.contains(&edit)));
    // In the order of the edits: the last one is compared with the next.
    let step = |one: &Measurement| one.edit.and_then(|edit| edits.iter().position(|of| *of == edit));
    state.measurements.sort_by_key(|one| (step(one), one.number));
    for edit in state.edits.iter_mut().filter(|edit| edit.checkpoint.is_some()) {
        match (edits.contains(&edit.id), edit.status.is_in_files()) {
            (true, false) => {
                edit.status = EditStatus::Kept;
                edit.problem = None;
            }
            (false, true) => {
                edit.status = EditStatus::Reverted;
                edit.problem.get_or_insert_with(|| ROLLED_BACK.to_owned());
            }
            _ => {}
        }
    }
    state.active_checkpoint = target;
    state.measuring = None;
    state.origin = None;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checkpoint 0 of a change from outside, 1 after it, and 2 after the state before the session.
    fn state() -> State {
        let command = json!({ "environment": [], "words": [] });
        let measured =
            |number: u64, edit: Option<u64>| json!({ "number": number, "edit": edit, "command": command.clone() });
        let edit = |id: u64, checkpoint: u64, status: &str| {
            json!({
                "id": id, "timestamp": "", "origin": "patch", "root": "/", "edit": { "files": [] }, "status": status,
                "summary": "", "checkpoint": checkpoint,
            })
        };
        let checkpoint = |id: u64, parent: Option<u64>, edit: u64, measurement: Option<u64>| {
            json!({
                "id": id, "parent": parent, "timestamp": "", "edit": edit, "files_modified": [], "edit_summary": "",
                "file_snapshots": {}, "measurement": measurement,
            })
        };
        serde_json::from_value(json!({
            "edits": [edit(1, 0, "kept"), edit(0, 1, "kept"), edit(2, 2, "reverted")],
            "checkpoints": [checkpoint(0, None, 1, None), checkpoint(1, Some(0), 0, Some(1))],
            "undone_checkpoints": [checkpoint(2, None, 2, Some(2))],
            "measurements": [measured(0, None), measured(1, Some(0))],
            "undone_measurements": [measured(2, Some(2))],
        }))
        .unwrap()
    }

    fn left(state: &State) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
        let in_files = state.edits.iter().filter(|edit| edit.status.is_in_files());
        (
            state.checkpoints.iter().map(|one| one.id).collect(),
            state.measurements.iter().map(|one| one.number).collect(),
            in_files.map(|edit| edit.id).collect(),
        )
    }

    #[test]
    fn records_follow_the_files() {
        let mut state = state();
        // Without a measurement of its own, it is compared with the one before.
        truncate(&mut state, Some(0));
        assert_eq!(left(&state), (vec![0], vec![0], vec![1]));
        truncate(&mut state, None);
        assert_eq!(left(&state), (vec![], vec![0], vec![]));
        truncate(&mut state, Some(1));
        assert_eq!(left(&state), (vec![0, 1], vec![0, 1], vec![1, 0]));
        truncate(&mut state, Some(2));
        assert_eq!(left(&state), (vec![2], vec![0, 2], vec![2]));
        assert_eq!((state.undone_checkpoints.len(), state.undone_measurements.len()), (2, 1));
    }

    #[test]
    fn a_chain_follows_the_parents() {
        let state = state();
        let chains = [None, Some(0), Some(1), Some(2), Some(3)].map(|target| chain_to(&state, target));
        assert_eq!(chains, [vec![], vec![0], vec![0, 1], vec![2], vec![]]);
    }

    #[test]
    fn checkpoints_of_earlier_versions_keep_their_history() {
        let mut old = serde_json::to_value(state()).unwrap();
        for list in ["checkpoints", "undone_checkpoints"] {
            for one in old[list].as_array_mut().unwrap() {
                one.as_object_mut().unwrap().remove("parent").unwrap();
            }
        }
        let parents = |state: &State| -> Vec<(u64, Option<u64>)> {
            let all = state.checkpoints.iter().chain(&state.undone_checkpoints);
            all.map(|one| (one.id, one.parent)).collect()
        };
        let mut state = State::read(&old).unwrap();
        assert_eq!(parents(&state), [(0, None), (1, Some(0)), (2, Some(1))]);
        truncate(&mut state, Some(1));
        assert_eq!(left(&state), (vec![0, 1], vec![0, 1], vec![1, 0]));
        // Checkpoint 1 was undone because its edit was slower.
        let slower = old["checkpoints"].as_array_mut().unwrap().pop().unwrap();
        old["undone_checkpoints"].as_array_mut().unwrap().insert(0, slower);
        old["edits"][1]["problem"] = json!("slower");
        assert_eq!(parents(&State::read(&old).unwrap()), [(0, None), (1, Some(0)), (2, Some(0))]);
        // A recorded parent stays, also the state before the session.
        old["undone_checkpoints"][1]["parent"] = json!(null);
        assert_eq!(parents(&State::read(&old).unwrap()), [(0, None), (1, Some(0)), (2, None)]);
    }
}
