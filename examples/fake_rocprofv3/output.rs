//! Writes the output directory of a run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::behaviour::{Behaviour, Misbehaviour};
use crate::command::{Command, Records};
use crate::database::Process;
use crate::instructions;
use crate::kernels;

const RUNS: &str = ".fake_rocprofv3_runs";
/// Variables in which launchers put the rank of a process.
const RANKS: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "RANK"];
/// Name of the output where none is given.
const USUAL_NAME: &str = "%hostname%/%pid%";

/// A run of the application.
#[derive(Debug)]
pub struct Run {
    /// How many came before it.
    pub number: u64,
    /// Mixed into its seed.
    mixed: u64,
}

impl Run {
    /// Counts it.
    pub fn begin(command: &Command, behaviour: &Behaviour) -> Result<Self> {
        let beside = || beside(&command.directory);
        let (path, mixed) = behaviour.counter.clone().map_or_else(beside, |path| (path, 0));
        let before = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        fs::write(&path, format!("{}\n", before + 1)).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { number: before, mixed })
    }

    /// Writes what the command asks for.
    pub fn write(&self, command: &Command, behaviour: &Behaviour) -> Result<()> {
        let mut list = kernels::read(behaviour.kernels.as_deref(), command)?;
        if behaviour.misbehaviour == Misbehaviour::Empty {
            list.clear();
        }
        if let Some(format) = command.formats.iter().find(|format| *format != "rocpd") {
            bail!("this one writes rocpd only, not {format}");
        }
        if command.records.contains(&Records::Instructions) {
            return instructions::write(
                &command.directory,
                &list,
                behaviour.misbehaviour != Misbehaviour::NothingDeeper,
            );
        }
        let mut command = command.clone();
        if behaviour.misbehaviour == Misbehaviour::NothingDeeper {
            command.passes.clear();
        }
        let command = &command;
        let first = RANKS.iter().find_map(|name| std::env::var(name).ok()?.parse().ok()).unwrap_or(0);
        for rank in first..first + behaviour.processes {
            let ranks = first + behaviour.processes;
            let process = Process { rank, ranks, mixed: self.mixed, seed: behaviour.seed, run: self.number };
            let (setup, _) = process.setup(&list, command)?;
            let name = command.name.as_deref().unwrap_or(USUAL_NAME);
            let name = name
                .replace("%hostname%", &setup.node.hostname)
                .replace("%pid%", &setup.process.pid.to_string())
                .replace("%nid%", &rank.to_string())
                .replace("%rank%", &rank.to_string());
            let path = command.directory.join(format!("{name}_results.db"));
            if behaviour.misbehaviour == Misbehaviour::Garbage {
                fs::create_dir_all(path.parent().unwrap_or(&command.directory))?;
                fs::write(&path, "this is not a database\n")?;
                continue;
            }
            process.write(&path, &list, command)?;
            eprintln!("[rocprofv3] Opened result file: {}", path.display());
        }
        Ok(())
    }
}

/// The file that counts, and what distinguishes runs into other directories. It is in the folder of the output directory, so that
/// these count together; but nothing is written next to the sources: there it is in the output directory itself.
fn beside(directory: &Path) -> (PathBuf, u64) {
    let folder = directory.parent().filter(|folder| !folder.as_os_str().is_empty());
    let is_here = |folder: &Path| folder.canonicalize().ok() == std::env::current_dir().ok();
    match folder.filter(|folder| !is_here(folder)) {
        Some(folder) => (folder.join(RUNS), 0),
        None => {
            let name = directory.file_name().unwrap_or_default().to_string_lossy();
            let mixed = name.bytes().fold(1_u64, |mixed, byte| mixed.wrapping_mul(31).wrapping_add(byte.into()));
            (directory.join(RUNS), mixed)
        }
    }
}
