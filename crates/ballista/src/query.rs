//! The client: a statement is planned here, and run by the cluster.

use std::io::{self, BufWriter};

use anyhow::{Context, Result};
use ballista::prelude::{SessionConfigExt, SessionContextExt};
use ballista_core::object_store::session_state_with_s3_support;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::StreamExt;

use crate::request::Request;
use crate::tables::{register, with_client_types};

/// Settings of a session. Names keep their case, as everywhere in wavesieve; connections to a peer that does not answer time out.
const SETTINGS: &[(&str, &str)] = &[
    ("datafusion.sql_parser.enable_ident_normalization", "false"),
    ("datafusion.sql_parser.recursion_limit", "1000"),
    // The adaptive planner makes stages without end for some statements (`device_summary`).
    ("ballista.planner.adaptive.enabled", "false"),
    ("ballista.client.grpc_connect_timeout_seconds", "10"),
    ("ballista.client.grpc_timeout_seconds", "20"),
    ("ballista.client.grpc_tcp_keepalive_seconds", "10"),
    ("ballista.client.grpc_http2_keepalive_interval_seconds", "10"),
];

/// Partitions that work is divided into.
const PARTITIONS: usize = 4;

/// Runs the request from standard input.
pub(crate) async fn answer() -> Result<()> {
    let request: Request = serde_json::from_reader(io::stdin().lock()).context("cannot read the request")?;
    let context = session(&request.scheduler).await?;
    for (name, table) in &request.tables {
        register(&context, name, table).await?;
    }
    let rows = with_client_types(context.sql(&request.statement).await?)?;
    let schema = rows.schema().as_arrow().clone();
    let mut batches = rows.execute_stream().await?;
    let mut output = StreamWriter::try_new(BufWriter::new(io::stdout()), &schema)?;
    while let Some(batch) = batches.next().await {
        output.write(&batch?)?;
    }
    Ok(output.finish()?)
}

async fn session(scheduler: &str) -> Result<SessionContext> {
    let mut config = SessionConfig::new_with_ballista()
        .with_option_extension(ballista_core::object_store::S3Options::default())
        .with_target_partitions(PARTITIONS);
    for (name, value) in SETTINGS {
        config.options_mut().set(name, value)?;
    }
    let state = session_state_with_s3_support(config)?;
    Ok(SessionContext::remote_with_state(&format!("df://{scheduler}"), state).await?)
}
