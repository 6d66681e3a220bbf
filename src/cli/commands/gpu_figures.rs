//! A short description of the device specs that metrics use.

use std::collections::BTreeSet;

use wavesieve_model::analysis::hardware::devices::{Constant, constants};
use wavesieve_model::schema::facts::AgentFacts;
use wavesieve_model::text::hidden::escape_hidden;
use wavesieve_tables::trace::Trace;

/// Roofs follow from the other specs; the table has them.
const ROOFS: [&str; 2] = ["peak_", "achievable_"];

/// The specs of every kind of GPU by source, in order of precedence.
pub(crate) fn describe(trace: &Trace) -> String {
    let mut described = BTreeSet::new();
    let mut texts = Vec::new();
    let mut models: Vec<AgentFacts> = Vec::new();
    for member in trace.members() {
        for agent in member.process.facts.agents.iter().filter(|agent| agent.is_gpu()) {
            let model = AgentFacts {
                agent_id: 0,
                absolute_index: None,
                type_index: None,
                location: None,
                uuid: None,
                ..agent.clone()
            };
            if models.contains(&model) {
                continue;
            }
            let text = describe_gpu(agent);
            models.push(model);
            if described.insert(text.clone()) {
                texts.push(text);
            }
        }
    }
    texts.concat()
}

fn describe_gpu(agent: &AgentFacts) -> String {
    let figures = constants(agent);
    let shown = || figures.iter().filter(|(name, _)| !ROOFS.iter().any(|roof| name.starts_with(roof)));
    let sources: BTreeSet<(usize, &str)> = shown().map(|(_, figure)| (order(figure), figure.source.as_str())).collect();
    let named =
        agent.product_name.as_deref().map_or_else(String::new, |product| format!(", {}", escape_hidden(product)));
    let mut text = format!("figures of {}{named}\n", escape_hidden(&agent.name));
    for (_, source) in sources {
        let own = shown().filter(|(_, figure)| figure.source == source).map(|(name, figure)| match figure.value {
            Some(value) => format!("{name} {value}{}", if figure.weak { " (unverified)" } else { "" }),
            None => name.clone(),
        });
        text.push_str(&format!("  {source}: {}\n", own.collect::<Vec<_>>().join(", ")));
    }
    text
}

fn order(figure: &Constant) -> usize {
    let sources = ["agent record", "pci id", "product", "architecture", "computed"];
    sources.iter().position(|source| figure.source.starts_with(source)).unwrap_or(sources.len())
}
