//! Lists and removes checkpoints.

use super::error::GitError;
use super::references::{ROOT, folder_of, parsed, reference_of};
use super::repository::Repository;

/// A reference to a saved state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Checkpoint {
    pub session: String,
    pub id: u64,
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
}

impl Repository {
    /// All checkpoints of all sessions, by session and id.
    ///
    /// # Errors
    /// When git fails.
    pub fn list(&self) -> Result<Vec<Checkpoint>, GitError> {
        self.below(ROOT)
    }

    /// Removes all checkpoints of a session, or none on failure; returns their number. Git removes the commits at its
    /// next cleanup.
    ///
    /// # Errors
    /// When git fails.
    pub fn remove(&self, session: &str) -> Result<usize, GitError> {
        let found = self.of_session(session)?;
        let mut input = Vec::new();
        for checkpoint in &found {
            let reference = reference_of(session, checkpoint.id)?;
            input.extend(format!("delete {reference}\0{}\0", checkpoint.commit).into_bytes());
        }
        if !found.is_empty() {
            let delete = self.git("remove checkpoints").args(["update-ref", "--stdin", "-z"]);
            delete.input(&input)?.run()?;
        }
        Ok(found.len())
    }

    /// The highest id of a checkpoint of the session. Only the session file knows the ids of removed ones.
    ///
    /// # Errors
    /// When git fails.
    pub fn highest(&self, session: &str) -> Result<Option<u64>, GitError> {
        Ok(self.of_session(session)?.into_iter().map(|checkpoint| checkpoint.id).max())
    }

    fn of_session(&self, session: &str) -> Result<Vec<Checkpoint>, GitError> {
        self.below(&folder_of(session)?)
    }

    fn below(&self, folder: &str) -> Result<Vec<Checkpoint>, GitError> {
        let format = "--format=%(objecttype)%00%(refname)%00%(objectname)%00%(contents:subject)";
        let text = self.git("list checkpoints").args(["for-each-ref", format, folder]).run()?;
        let mut found: Vec<Checkpoint> = String::from_utf8_lossy(&text).lines().filter_map(checkpoint_of).collect();
        found.sort();
        Ok(found)
    }
}

fn checkpoint_of(line: &str) -> Option<Checkpoint> {
    let mut parts = line.splitn(4, '\0');
    let (kind, reference, commit, subject) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let (session, id) = parsed(reference).filter(|_| kind == "commit")?;
    Some(Checkpoint { session, id, commit: commit.to_owned(), subject: subject.to_owned() })
}
