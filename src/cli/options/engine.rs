//! `--engine`: the engine that runs the statements.

use std::env;
use std::path::Path;
use std::sync::Arc;

use clap::Args;

use super::global::GlobalArguments;
use super::input::InputArguments;
use crate::cli::exit::{Failure, refuse};
use crate::cli::output::messages::note;
use wavesieve_engine::{Address, Ballista, CLIENT_VARIABLE, find_client};
use wavesieve_input::stores::{Address as StoreAddress, Mirror};
use wavesieve_input::{TableFiles, is_dataset};
use wavesieve_tables::trace::Trace;

/// The engine that runs the statements.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct EngineArguments {
    /// Run the statements on this cluster of Apache DataFusion Ballista, over one dataset of `convert --with all` at a path or in a
    /// bucket (s3://) that all of its machines reach. The program wavesieve-ballista talks to it
    #[arg(long, value_name = "ballista://HOST:PORT", help_heading = "Reading")]
    engine: Option<Address>,
}

impl EngineArguments {
    pub(crate) fn is_given(&self) -> bool {
        self.engine.is_some()
    }

    /// Returns whether findings cover the whole run, because the cluster does not know parts of it. Reports that unless
    /// it was requested.
    pub(crate) fn covers_whole_run(&self, is_asked_for: bool, global: &GlobalArguments) -> bool {
        if self.is_given() && !is_asked_for {
            note!(global, "note: with --engine findings cover the whole run, as with --whole-run");
        }
        self.is_given()
    }

    /// Rejects an option that the cluster does not support.
    pub(crate) fn refuse(&self, is_option_given: bool, option: &str) -> Result<(), Failure> {
        if self.is_given() && is_option_given {
            refuse!("{option} does not reach a cluster; leave out {option}, or --engine");
        }
        Ok(())
    }

    /// The trace with its statements run by the cluster, if one is named.
    pub(crate) fn attach(&self, trace: Trace, input: &InputArguments) -> Result<Trace, Failure> {
        let Some(address) = &self.engine else { return Ok(trace) };
        let named = input.named()?;
        let [directory] = named.as_slice() else {
            return Err(not_a_dataset(&format!("{} inputs", named.len())));
        };
        let tables = tables_of(directory)?;
        if let Some(difference) = tables.difference(&trace) {
            refuse!("a cluster cannot read {directory} as it is: {difference}, or leave out --engine");
        }
        let program = env::current_exe().unwrap_or_default();
        let named = env::var_os(CLIENT_VARIABLE);
        let client = find_client(named.as_deref().map(Path::new), &program).map_err(Failure::Usage)?;
        let processes = tables.processes();
        let ballista = Ballista { address: address.clone(), client, files: tables.files, processes };
        Ok(trace.with_runner(Arc::new(ballista)))
    }
}

fn tables_of(input: &str) -> Result<TableFiles, Failure> {
    let Some(address) = StoreAddress::parse(input).map_err(Failure::usage)? else {
        let directory = Path::new(input);
        return if is_dataset(directory) { Ok(TableFiles::of(directory, None)?) } else { Err(not_a_dataset(input)) };
    };
    let Some(shared) = address.as_s3() else {
        refuse!(
            "{address}: a cluster reads s3:// and paths that all machines share; copy the dataset there, or leave out --engine"
        );
    };
    Ok(TableFiles::of(Mirror::open(&address)?.path(), Some(&shared))?)
}

fn not_a_dataset(input: &str) -> Failure {
    Failure::Usage(format!(
        "--engine reads one dataset, and {input} is none; convert the traces first with `wavesieve convert INPUT -o DATASET --with all`"
    ))
}
