//! Answers from a file.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::FaceError;
use super::question::Question;

/// Answers, one a line: `QUESTION-ID: answer` answers only that question, other lines answer any question. Empty lines
/// and lines that begin with `#` are ignored, except in a long answer, which an empty line ends.
#[derive(Debug)]
pub(super) struct Answers {
    path: PathBuf,
    lines: Vec<String>,
    next: usize,
}

impl Answers {
    pub(super) fn read(path: &Path) -> Result<Self, FaceError> {
        let bytes = fs::read(path).map_err(|error| FaceError::Answers { path: path.to_owned(), error })?;
        Ok(Self::new(path, &String::from_utf8_lossy(&bytes)))
    }

    pub(super) fn new(path: &Path, text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        Self { path: path.to_owned(), lines: text.lines().map(str::to_owned).collect(), next: 0 }
    }

    /// The answer to a question; empty to take its default, `None` after the last answer.
    pub(super) fn answer(&mut self, question: &Question) -> Result<Option<String>, FaceError> {
        let counts = |line: &&String| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let Some(place) =
            (self.next..self.lines.len()).find(|place| self.lines.get(*place).as_ref().is_some_and(counts))
        else {
            self.next = self.lines.len();
            return Ok(None);
        };
        let line = self.lines.get(place).map(String::as_str).unwrap_or_default();
        let first = match named(line) {
            Some((id, answer)) if id == question.id => answer,
            Some((id, _)) => {
                let (path, given) = (self.path.clone(), id.to_owned());
                return Err(FaceError::OtherQuestion { path, line: place + 1, given, asked: question.id });
            }
            None => line,
        };
        let mut answer = first.trim().to_owned();
        self.next = place + 1;
        if question.is_long {
            let more: Vec<&String> =
                self.lines.iter().skip(self.next).take_while(|line| !line.trim().is_empty()).collect();
            self.next += more.len() + 1;
            for line in more {
                if !answer.is_empty() {
                    answer.push('\n');
                }
                answer.push_str(line.trim_end());
            }
        }
        Ok(Some(answer))
    }
}

/// The id of a question at the start of a line, and the text after it.
fn named(line: &str) -> Option<(&str, &str)> {
    let (id, answer) = line.trim_start().split_once(':')?;
    let is_name = id.starts_with(|one: char| one.is_ascii_lowercase())
        && id.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || matches!(one, '.' | '_' | '-'));
    (is_name && (answer.is_empty() || answer.starts_with([' ', '\t']))).then_some((id, answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: &'static str, is_long: bool) -> Question {
        Question { id, is_long, ..Question::default() }
    }

    #[test]
    fn answers_come_in_order() {
        let text = "# of a test\n\nmenu: 1\r\ny\n  # later\nconfirm:\nC:\\traces\nmake: not a question\n";
        let mut answers = Answers::new(Path::new("a.txt"), text);
        let mut ask = |id| answers.answer(&question(id, false));
        assert_eq!(ask("menu").unwrap().as_deref(), Some("1"));
        assert_eq!(ask("anything").unwrap().as_deref(), Some("y"));
        assert_eq!(ask("confirm").unwrap().as_deref(), Some(""));
        assert_eq!(ask("path").unwrap().as_deref(), Some("C:\\traces"));
        let error = ask("build").unwrap_err().to_string();
        assert_eq!(error, "a.txt:8 answers `make`, but `build` is asked; begin the line with `build:`, or remove it");
        assert_eq!(ask("make").unwrap().as_deref(), Some("not a question"));
        assert_eq!(ask("menu").unwrap(), None);
    }

    #[test]
    fn long_answers_end_with_an_empty_line() {
        let text = "failure.text: a.hip:3: error: x\n# include\nmenu: 2\n\nmenu: q\nfailure.text:\none\ntwo";
        let mut answers = Answers::new(Path::new("a.txt"), text);
        let expected = "a.hip:3: error: x\n# include\nmenu: 2";
        assert_eq!(answers.answer(&question("failure.text", true)).unwrap().as_deref(), Some(expected));
        assert_eq!(answers.answer(&question("menu", false)).unwrap().as_deref(), Some("q"));
        assert_eq!(answers.answer(&question("failure.text", true)).unwrap().as_deref(), Some("one\ntwo"));
        assert_eq!(answers.answer(&question("failure.text", true)).unwrap(), None);
    }
}
