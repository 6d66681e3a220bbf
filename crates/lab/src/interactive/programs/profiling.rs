//! rocprofv3 commands for an application.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::application::{Application, line, without_variables};
use super::collected::{Scope, collected};
use super::error::ProgramError;
use super::shell_line::words_of_line;
use super::starters::{base_name, started};
use super::tables::tables;
use wavesieve_model::analysis::counter_plan::{GivenFlag, check, given_flags};

const PROFILER: &str = "rocprofv3";
/// Name of the output files. Even a program that is not known to start others may do so, and no process must overwrite
/// the output of another.
const NAME: &str = "results_%pid%";
const NAME_OF_MANY: &str = "results_%nid%_%pid%";

/// A command that profiles an application with rocprofv3.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profiling {
    /// Variables to set for it.
    pub environment: Vec<(String, String)>,
    /// Its words. They start with rocprofv3, or with an MPI launcher before it: `mpirun -n 4 rocprofv3 … -- ./app`.
    pub words: Vec<String>,
}

impl Profiling {
    /// The first command for an application. It does not have `--process-sync`: that does not follow children, but
    /// makes processes wait for each other at their end.
    pub fn first(application: &Application, directory: &Path) -> Self {
        let flags = tables().first.get(&application.kind).cloned().unwrap_or_default();
        let flags = given_flags(&flags);
        build(PROFILER, &flags, Vec::new(), application, directory)
    }

    /// Adapts a recommended command to this application: replaces the program, the output folder and the words before
    /// rocprofv3, and keeps variables in front.
    ///
    /// # Errors
    /// When it does not run rocprofv3, or rocprofv3 would reject it.
    pub fn of_words(words: &[String], application: &Application, directory: &Path) -> Result<Self, ProgramError> {
        let (variables, rest) = without_variables(words.to_vec());
        let is_profiler = |word: &String| base_name(word) == PROFILER;
        let mut behind = rest.iter().take_while(|word| *word != "--").skip_while(|word| !is_profiler(word));
        let profiler = behind.next().ok_or_else(|| ProgramError::NotRocprofv3(line(&variables, &rest)))?;
        let flags: Vec<String> = behind.cloned().collect();
        let made = build(profiler, &given_flags(&flags), variables, application, directory);
        match check(made.profiler_words()).first() {
            Some(problem) => Err(ProgramError::Refused { line: made.line(), problem: problem.to_string() }),
            None => Ok(made),
        }
    }

    /// Makes a command from a line in shell syntax.
    ///
    /// # Errors
    /// Also when the line needs a shell, or cannot be split.
    pub fn of_line(line: &str, application: &Application, directory: &Path) -> Result<Self, ProgramError> {
        Self::of_words(&words_of_line(line)?, application, directory)
    }

    /// The command as a line for a shell.
    pub fn line(&self) -> String {
        line(&self.environment, &self.words)
    }

    /// The data that it collects: `kernel-trace`, `hip-trace`, `pmc:SQ_WAVES`, `att`, `pc-sampling`, including data
    /// that flags imply.
    pub fn collects(&self) -> BTreeSet<String> {
        collected(&self.flags())
    }

    /// Returns whether earlier commands collected all of its data. Counters and thread traces of some kernels count
    /// only if an earlier command collected them for the same kernels, or for all.
    pub fn repeats(&self, earlier: &[Self]) -> bool {
        let flags = self.flags();
        let (own, scope) = (collected(&flags), Scope::of(&flags));
        let had: Vec<(BTreeSet<String>, Scope)> = earlier
            .iter()
            .map(|one| {
                let flags = one.flags();
                (collected(&flags), Scope::of(&flags))
            })
            .collect();
        let is_had =
            |item: &String| had.iter().any(|(items, other)| items.contains(item) && other.covers(&scope, item));
        !own.is_empty() && own.iter().all(is_had)
    }

    /// The sorted paths of readable traces from this command.
    pub fn traces(&self, directory: &Path) -> Vec<PathBuf> {
        wavesieve_input::traces_below(directory)
    }

    fn profiler_words(&self) -> &[String] {
        let before = self.words.iter().take_while(|word| base_name(word) != PROFILER).count();
        self.words.get(before..).unwrap_or_default()
    }

    fn flags(&self) -> Vec<GivenFlag> {
        let flags = self.profiler_words().iter().skip(1).take_while(|word| *word != "--");
        given_flags(&flags.cloned().collect::<Vec<_>>())
    }
}

fn build(
    profiler: &str,
    flags: &[GivenFlag],
    variables: Vec<(String, String)>,
    application: &Application,
    directory: &Path,
) -> Profiling {
    let before = started(&application.words).before_profiler;
    let (launching, run) = application.words.split_at(before.min(application.words.len()));
    let mut words: Vec<String> = launching.to_vec();
    words.push(profiler.to_owned());
    let is_ours = |flag: &&GivenFlag| ["--output-directory", "--output-file"].contains(&flag.name);
    words.extend(flags.iter().filter(|flag| !is_ours(flag)).flat_map(|flag| flag.words.iter().cloned()));
    let has = |name: &str| flags.iter().any(|flag| flag.name == name && !flag.is_off());
    // Thread traces have separate files and names.
    if !has("--att") {
        if !has("--output-format") {
            words.extend(["--output-format", "rocpd"].map(ToOwned::to_owned));
        }
        let name = if application.has_many_processes { NAME_OF_MANY } else { NAME };
        words.extend(["-o", name].map(ToOwned::to_owned));
    }
    words.extend(["-d".to_owned(), directory.to_string_lossy().into_owned(), "--".to_owned()]);
    words.extend(run.iter().cloned());
    let mut environment = application.environment.clone();
    environment.retain(|(name, _)| !variables.iter().any(|(other, _)| other == name));
    environment.extend(variables);
    Profiling { environment, words }
}
