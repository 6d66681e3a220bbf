//! A rocprofv3 for tests: it takes the flags of the real one, runs the application, and writes the databases of a GPU that is
//! not there. Started by the name `rocprofv3`, through a link on `PATH`.
//!
//! Settings are variables, or lines `NAME=VALUE` in a file `fake_rocprofv3.env` next to the link:
//!
//! | variable | meaning |
//! | --- | --- |
//! | `FAKE_ROCPROFV3_KERNELS` | file of what runs, read after the application: lines `kernel NAME CALLS DURATION_NS [NOISE_PCT]`, and `source NAME FILE:LINE` for thread traces, `counter NAME COUNTER VALUE` for the value in each dispatch, `resources NAME VGPR ACCUM_VGPR SGPR LDS THREADS`; names with blanks are quoted |
//! | `FAKE_ROCPROFV3_PROCESSES` | processes that write a trace each |
//! | `FAKE_ROCPROFV3_SEED` | seed of the noise |
//! | `FAKE_ROCPROFV3_COUNTER` | file that counts the runs, by default `.fake_rocprofv3_runs` in the folder of the output directory |
//! | `FAKE_ROCPROFV3` | how it misbehaves: `no-output`, `empty`, `garbage`, `hang`, `crash`, `exit:N`, `fail-after:N`, `fail-counters:N`, `nothing-deeper` (no values of counters, no executed instructions) |

#[path = "../generate_trace/arguments.rs"]
#[allow(dead_code)]
mod arguments;
#[path = "../generate_trace/catalogue.rs"]
#[allow(dead_code)]
mod catalogue;
#[path = "../generate_trace/model.rs"]
#[allow(dead_code)]
mod model;
#[path = "../generate_trace/plant.rs"]
#[allow(dead_code)]
mod plant;
#[path = "../generate_trace/platform.rs"]
#[allow(dead_code)]
mod platform;
#[path = "../generate_trace/random.rs"]
#[allow(dead_code)]
mod random;
#[path = "../generate_trace/rocpd.rs"]
#[allow(dead_code)]
mod rocpd;
#[path = "../generate_trace/rocpd_setup.rs"]
mod rocpd_setup;

mod application;
mod behaviour;
mod command;
mod database;
mod instructions;
mod kernels;
mod output;
mod timeline;

use std::process::ExitCode;

use anyhow::Result;

use crate::behaviour::{Behaviour, Misbehaviour};
use crate::command::{Command, Parsed};
use crate::output::Run;

/// The exit code of rocprofv3 if counters do not fit into a pass.
const BLOCK_LIMIT: u8 = 38;
/// The exit code of an argument parser for wrong arguments.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("rocprofv3: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<u8> {
    let command = match Command::parse(std::env::args().skip(1)) {
        Parsed::Run(command) => command,
        Parsed::Shown(text) => {
            println!("{text}");
            return Ok(0);
        }
        Parsed::Refused(problems) => {
            eprintln!("usage: rocprofv3 [-h] [options] -- <application> [application options]");
            problems.iter().for_each(|problem| eprintln!("rocprofv3: error: {problem}"));
            return Ok(USAGE);
        }
        Parsed::TooManyCounters(passes) => {
            eprintln!(
                "Could not construct counter config: Request exceeds the capabilities of the hardware to collect ({passes} passes needed)"
            );
            return Ok(BLOCK_LIMIT);
        }
    };
    let behaviour = Behaviour::read()?;
    let run = Run::begin(&command, &behaviour)?;
    if behaviour.misbehaviour == Misbehaviour::Hang {
        loop {
            std::thread::sleep(std::time::Duration::from_secs(3600));
        }
    }
    let code = application::run(&command.application)?;
    if code != 0 {
        return Ok(code);
    }
    match behaviour.misbehaviour {
        Misbehaviour::Crash => std::process::abort(),
        Misbehaviour::Exit(code) => return Ok(code),
        Misbehaviour::FailAfter(runs) if run.number >= runs => {
            eprintln!("rocprofv3: failed after {runs} runs, as asked");
            return Ok(1);
        }
        Misbehaviour::FailCounters(code) if !command.passes.is_empty() => {
            eprintln!("rocprofv3: no counters, as asked");
            return Ok(code);
        }
        Misbehaviour::NoOutput => return Ok(0),
        _ => {}
    }
    run.write(&command, &behaviour)?;
    Ok(0)
}
