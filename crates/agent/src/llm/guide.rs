//! The reference for a model: parts selected by the question, with facts from `share/`.

use std::collections::BTreeSet;

use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde_json::{Value, json};
use toml::Table;

use super::environment::Variables;
use super::error::LlmError;
use wavesieve_report::analysis::Analysis;

pub(crate) const GUIDE: &str = data!("templates/llm/guide.md");
const GPUS: &str = data!("share/gpus.toml");
const OCCUPANCY: &str = data!("share/occupancy.toml");
const COUNTERS: &str = data!("share/counter_blocks.toml");

/// Prefixes of the marks of parts.
const MARKS: [&str; 3] = ["wavesieve-context:", "rocpd-context:", "rocinsight-context:"];
/// Number of first lines of a part, including the heading, that may have a mark.
const LINES_OF_MARKS: usize = 3;

/// The subject of an answer, which determines the parts.
#[derive(Clone, Debug, Default)]
pub struct GuideContext {
    /// 0 source code, 1 traces, 2 counters, 3 thread traces.
    pub tier: u8,
    pub has_counters: bool,
    /// The limit of the run: compute, memory, memory_transfer, latency or mixed, if it is known.
    pub bottleneck: Option<String>,
    pub prompt: Option<String>,
    /// Architecture of the GPUs, such as `gfx942`.
    pub architecture: Option<String>,
}

impl GuideContext {
    /// The subject of an analysis.
    pub fn new(analysis: &Analysis) -> Self {
        Self {
            tier: analysis.document.tier,
            has_counters: analysis.document.tier >= 2,
            bottleneck: analysis.verdict.map(|verdict| verdict.limit.word().to_owned()),
            prompt: analysis.prompt.clone().filter(|prompt| !prompt.trim().is_empty()),
            architecture: analysis.collected.architecture().map(ToOwned::to_owned),
        }
    }

    /// The tags of useful parts.
    pub fn tags(&self) -> BTreeSet<&'static str> {
        let mut tags = BTreeSet::from(["always"]);
        match self.tier {
            0 => tags.extend(["source", "compiler"]),
            _ => {
                tags.insert("tier1");
                if self.has_counters || self.tier >= 2 {
                    tags.insert("tier2");
                }
            }
        }
        let limit = self.bottleneck.as_deref().unwrap_or_default();
        let prompt = self.prompt.as_deref().unwrap_or_default().to_lowercase();
        let asks = ["compiler", "flag", "build", "compile", "register"].iter().any(|word| prompt.contains(word));
        if asks || matches!(limit, "compute" | "memory" | "memory_transfer") {
            tags.insert("compiler");
        }
        tags
    }
}

/// The parts of a guide with one of these tags, or without any tag.
pub fn chosen(guide: &str, tags: &BTreeSet<&str>) -> String {
    let mut parts: Vec<Vec<&str>> = vec![Vec::new()];
    for line in guide.lines() {
        if line.starts_with("## ") {
            parts.push(Vec::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push(line);
        }
    }
    let is_chosen = |part: &Vec<&str>| {
        let marks = part.iter().take(LINES_OF_MARKS).find_map(|line| marks(line));
        marks.is_none_or(|marks| marks.iter().any(|mark| tags.contains(mark)))
    };
    let chosen = parts.iter().filter(|part| is_chosen(part));
    let kept = chosen.flat_map(|part| part.iter().filter(|line| marks(line).is_none()).copied());
    kept.collect::<Vec<&str>>().join("\n")
}

fn marks(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim();
    let tags = MARKS.iter().find_map(|mark| inner.strip_prefix(mark))?;
    Some(tags.split(',').map(str::trim).filter(|tag| !tag.is_empty()).collect())
}

/// The guide for a question: the user's own file if one is named, otherwise the built-in one.
///
/// # Errors
/// When the file cannot be read.
pub fn guide(context: &GuideContext, tags: &BTreeSet<&str>, variables: &Variables) -> Result<String, LlmError> {
    if let Some((variable, path)) = variables.llm("REFERENCE_GUIDE") {
        let text = std::fs::read_to_string(path).map_err(|error| {
            LlmError::Usage(format!("{variable}: {path} cannot be read: {error}; name a text file, or unset it"))
        })?;
        return Ok(chosen(&text, tags));
    }
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    let mut values = facts(context.architecture.as_deref());
    if let Some(values) = values.as_object_mut() {
        values.insert("is_asked".to_owned(), Value::Bool(context.prompt.is_some()));
    }
    let text = environment.render_str(GUIDE, Serde(values));
    let text = text.map_err(|error| LlmError::Internal(format!("templates/llm/guide.md: {error}")))?;
    Ok(chosen(&text, tags))
}

/// The facts of an architecture from the tables.
fn facts(architecture: Option<&str>) -> Value {
    let read = |text: &str| text.parse::<Table>().unwrap_or_default();
    let (gpus, occupancy, counters) = (read(GPUS), read(OCCUPANCY), read(COUNTERS));
    let entry = |table: &Table, key: &str| -> Option<toml::Value> {
        let wanted = architecture?;
        let all = table.get("architecture")?.as_array()?;
        let named = |one: &&toml::Value| match one.get(key) {
            Some(toml::Value::String(name)) => name == wanted,
            Some(toml::Value::Array(names)) => names.iter().any(|name| name.as_str() == Some(wanted)),
            _ => false,
        };
        all.iter().find(named).cloned()
    };
    let figures = entry(&gpus, "name").and_then(|one| one.get("figures").cloned());
    let mut merged = Table::new();
    for (_, part) in figures.as_ref().and_then(toml::Value::as_table).into_iter().flatten() {
        merged.extend(part.as_table().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
    }
    let limits = entry(&counters, "name").or_else(|| entry(&counters, "names"));
    json!({
        "architecture": architecture,
        "gpu": merged,
        "occupancy": entry(&occupancy, "names"),
        "counters": limits,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(tier: u8, has_counters: bool, bottleneck: &str, prompt: &str) -> Vec<&'static str> {
        let context = GuideContext {
            tier,
            has_counters,
            bottleneck: Some(bottleneck.to_owned()),
            prompt: Some(prompt.to_owned()),
            architecture: None,
        };
        context.tags().into_iter().collect()
    }

    /// Fact 31.
    #[test]
    fn tags_follow_what_is_asked() {
        assert_eq!(tags(1, false, "", ""), ["always", "tier1"]);
        assert_eq!(tags(2, false, "", ""), ["always", "tier1", "tier2"]);
        assert_eq!(tags(1, true, "", ""), ["always", "tier1", "tier2"]);
        assert_eq!(tags(0, false, "", ""), ["always", "compiler", "source"]);
        assert_eq!(tags(2, true, "compute", ""), ["always", "compiler", "tier1", "tier2"]);
        for limit in ["latency", "mixed"] {
            assert!(!tags(2, true, limit, "").contains(&"compiler"), "{limit}");
        }
        for prompt in ["check compiler flags", "build options to try"] {
            assert!(tags(1, false, "", prompt).contains(&"compiler"), "{prompt}");
        }
        assert!(!tags(1, false, "", "memory bottleneck analysis").contains(&"compiler"));
    }

    /// Fact 32.
    #[test]
    fn parts_are_chosen_by_their_marks() {
        let guide = "head\n## A\n<!-- wavesieve-context: tier1, tier2 -->\na\n## B\nb\nb\n<!-- rocpd-context: tier9 -->\n## C\n<!-- rocpd-context: tier9 -->\nc";
        let shown = chosen(guide, &BTreeSet::from(["tier2"]));
        assert_eq!(shown, "head\n## A\na\n## B\nb\nb");
        assert_eq!(chosen("", &BTreeSet::from(["always"])), "");
    }

    #[test]
    fn the_guide_has_facts_of_the_architecture() {
        let context = GuideContext { tier: 2, architecture: Some("gfx942".to_owned()), ..GuideContext::default() };
        let all = BTreeSet::from(["always", "tier1", "tier2", "compiler", "source"]);
        let text = guide(&context, &all, &Variables::default()).unwrap();
        assert!(text.contains("gfx942") && text.contains("8 wavefronts"), "{text}");
        let short = guide(&context, &BTreeSet::from(["always"]), &Variables::default()).unwrap();
        assert!(short.len() * 2 < text.len(), "{} of {}", short.len(), text.len());
        let unknown = GuideContext { architecture: Some("gfx1".to_owned()), ..context };
        assert!(guide(&unknown, &all, &Variables::default()).is_ok());
    }
}
