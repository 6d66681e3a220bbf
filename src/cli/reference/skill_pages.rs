//! The skill for agents, from the definition of the command line, and agent settings that start the server.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use clap::Command;
use minijinja::{Value, context};
use serde::Deserialize;

use super::help::{listed, render};
use wavesieve_agent::mcp::tool_docs;
use wavesieve_engine::Registry;

const AGENTS: &str = include_str!("../../../share/mcp/agents.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Agents {
    agent: Vec<Agent>,
}

/// An agent, and its settings to start the server.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Agent {
    title: String,
    place: String,
    file: String,
    text: String,
}

/// File names and texts: the skill, and a file of settings for each agent.
///
/// # Errors
/// When the list of agents is wrong, which the tests exclude.
pub(crate) fn pages(command: &Command, registry: &Registry) -> Result<Vec<(String, Vec<u8>)>> {
    let agents: Agents = toml::from_str(AGENTS).context("internal: share/mcp/agents.toml is wrong")?;
    let groups = listed(command);
    let mut families: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for query in registry.iter() {
        families.entry(query.family.clone()).or_default().push(query.name.clone());
    }
    let families: Vec<Value> = families.into_iter().map(|(name, queries)| context! { name, queries }).collect();
    let tools: Vec<Value> = tool_docs()
        .iter()
        .map(|tool| context! { name => &tool.name, title => &tool.title, description => &tool.description })
        .collect();
    let listed: Vec<Value> = agents
        .agent
        .iter()
        .map(|agent| context! { title => &agent.title, place => &agent.place, file => &agent.file })
        .collect();
    let exit_codes = include_str!("../../../templates/skill/exit_codes.md").trim_end();
    let skill = render(
        include_str!("../../../templates/skill/SKILL.md"),
        context! { groups, families, tools, agents => listed, exit_codes },
    );
    let mut pages = vec![("SKILL.md".to_owned(), format!("{skill}\n").into_bytes())];
    pages.extend(agents.agent.into_iter().map(|agent| (agent.file, agent.text.into_bytes())));
    Ok(pages)
}
