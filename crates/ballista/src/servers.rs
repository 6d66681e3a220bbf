//! The scheduler and the executors of Ballista, in a build that reads deep plans and does not repeat rows of unions.

use std::ffi::OsString;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use ballista_core::object_store::{
    runtime_env_with_s3_support, session_config_with_s3_support, session_state_with_s3_support,
};
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::config::Config as ExecutorOptions;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::{Config as SchedulerOptions, SchedulerConfig};
use ballista_scheduler::scheduler_process::start_server;
use clap::{CommandFactory, FromArgMatches};
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::functions_nested::all_default_nested_functions;
use datafusion::prelude::SessionConfig;
use tracing_subscriber::EnvFilter;

use crate::unions::BranchesInStages;

/// Dead executors are detected in half a minute instead of three minutes.
const SCHEDULER_DEFAULTS: &[(&str, &str)] =
    &[("executor_timeout_seconds", "30"), ("expire_dead_executor_interval_seconds", "5")];
const EXECUTOR_DEFAULTS: &[(&str, &str)] = &[("executor_heartbeat_interval_seconds", "5")];

/// Starts a scheduler, which runs until it is stopped.
pub(crate) async fn scheduler(options: Vec<OsString>) -> Result<()> {
    let options: SchedulerOptions = parsed("wavesieve-ballista scheduler", options, SCHEDULER_DEFAULTS)?;
    log_to_stderr(&options.log_level_setting);
    let address = format!("{}:{}", options.bind_host, options.bind_port);
    let address =
        address.parse().with_context(|| format!("{address} is not an address; give --bind-host an IP address"))?;
    let config = SchedulerConfig::try_from(options)?
        .with_override_config_producer(Arc::new(session_config_with_s3_support))
        .with_override_session_builder(Arc::new(session_state));
    let cluster = BallistaCluster::new_from_config(&config).await?;
    start_server(cluster, address, Arc::new(config)).await.map_err(|error| anyhow!("{error}"))
}

/// The state of a session in which statements are planned.
fn session_state(config: SessionConfig) -> datafusion::common::Result<SessionState> {
    let state = SessionStateBuilder::new_from_existing(session_state_with_s3_support(config)?);
    Ok(state.with_physical_optimizer_rule(Arc::new(BranchesInStages)).build())
}

/// Starts an executor, which runs until it is stopped.
pub(crate) async fn executor(options: Vec<OsString>) -> Result<()> {
    let options: ExecutorOptions = parsed("wavesieve-ballista executor", options, EXECUTOR_DEFAULTS)?;
    log_to_stderr(&options.log_level_setting);
    let mut config = ExecutorProcessConfig::try_from(options)?;
    config.override_config_producer = Some(Arc::new(session_config_with_s3_support));
    config.override_runtime_producer = Some(Arc::new(runtime_env_with_s3_support));
    config.override_function_registry = Some(Arc::new(functions()));
    start_executor_process(Arc::new(config)).await.map_err(|error| anyhow!("{error}"))
}

/// The functions that executors know, including list functions, which Ballista itself leaves out.
fn functions() -> BallistaFunctionRegistry {
    let mut known = BallistaFunctionRegistry::default();
    let of_lists = all_default_nested_functions().into_iter().map(|function| (function.name().to_owned(), function));
    known.scalar_functions.extend(of_lists);
    known
}

/// Ballista's options, some with other defaults.
fn parsed<T: CommandFactory + FromArgMatches>(
    name: &'static str,
    options: Vec<OsString>,
    defaults: &[(&'static str, &'static str)],
) -> Result<T> {
    let command = defaults.iter().fold(T::command().bin_name(name), |command, (option, value)| {
        command.mut_arg(option, |argument| argument.default_value(*value))
    });
    let matches = command.get_matches_from(std::iter::once(OsString::from(name)).chain(options));
    Ok(T::from_arg_matches(&matches)?)
}

fn log_to_stderr(level: &str) {
    let filter = std::env::var(EnvFilter::DEFAULT_ENV).unwrap_or_else(|_| level.to_owned());
    tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(std::io::stderr)
        .with_env_filter(EnvFilter::new(filter))
        .init();
}
