//! How the program behaves: variables, and a file next to the link that starts it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

const PREFIX: &str = "FAKE_ROCPROFV3";
const FILE: &str = "fake_rocprofv3.env";

/// The fault to simulate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misbehaviour {
    /// Nothing.
    None,
    /// The application runs, and nothing is written.
    NoOutput,
    /// A database in which nothing is recorded.
    Empty,
    /// A file that is not a database.
    Garbage,
    /// It never comes to running the application.
    Hang,
    /// It is ended by a signal after the application.
    Crash,
    /// It ends with a code after the application.
    Exit(u8),
    /// It fails after so many runs.
    FailAfter(u64),
    /// Runs that collect counters end with a code after the application.
    FailCounters(u8),
    /// Runs that collect counters or a thread trace end well, and have no values of them.
    NothingDeeper,
}

/// How the program behaves.
#[derive(Debug)]
pub struct Behaviour {
    pub misbehaviour: Misbehaviour,
    pub kernels: Option<PathBuf>,
    pub processes: u64,
    pub seed: u64,
    pub counter: Option<PathBuf>,
}

impl Behaviour {
    /// From the variables and the file.
    pub fn read() -> Result<Self> {
        let mut settings = beside_the_link()?;
        settings.extend(std::env::vars().filter(|(name, _)| name.starts_with(PREFIX)));
        let number = |name: &str, usual: u64| -> Result<u64> {
            let value = settings.get(&format!("{PREFIX}_{name}"));
            let parsed = value.map(|value| value.parse().with_context(|| format!("{PREFIX}_{name}: {value}")));
            parsed.unwrap_or(Ok(usual))
        };
        let path = |name: &str| settings.get(&format!("{PREFIX}_{name}")).map(PathBuf::from);
        Ok(Self {
            misbehaviour: misbehaviour(settings.get(PREFIX).map_or("", String::as_str))?,
            kernels: path("KERNELS"),
            processes: number("PROCESSES", 1)?.max(1),
            seed: number("SEED", 1)?,
            counter: path("COUNTER"),
        })
    }
}

fn misbehaviour(word: &str) -> Result<Misbehaviour> {
    let (word, number) = word.split_once(':').unwrap_or((word, ""));
    let number = || number.parse::<u64>().with_context(|| format!("{PREFIX}={word}:{number} needs a number"));
    Ok(match word {
        "" => Misbehaviour::None,
        "no-output" => Misbehaviour::NoOutput,
        "empty" => Misbehaviour::Empty,
        "garbage" => Misbehaviour::Garbage,
        "hang" => Misbehaviour::Hang,
        "crash" => Misbehaviour::Crash,
        "exit" => Misbehaviour::Exit(u8::try_from(number()?)?),
        "fail-counters" => Misbehaviour::FailCounters(u8::try_from(number()?)?),
        "nothing-deeper" => Misbehaviour::NothingDeeper,
        "fail-after" => Misbehaviour::FailAfter(number()?),
        other => bail!("{PREFIX}={other} is not known"),
    })
}

/// The lines of the file next to the link, which is located as a shell does it.
fn beside_the_link() -> Result<BTreeMap<String, String>> {
    let program = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let named = program.parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_owned);
    let on_path = || {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).find(|folder| folder.join(&program).exists())
    };
    let Some(path) = named.or_else(on_path).map(|folder| folder.join(FILE)).filter(|path| path.exists()) else {
        return Ok(BTreeMap::new());
    };
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = text.lines().filter_map(|line| line.trim().split_once('='));
    Ok(lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}
