//! Providers, models, limits and prices: `share/llm/models.toml`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::error::LlmError;

const MODELS: &str = data!("share/llm/models.toml");

/// The protocol of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's chat completions, which many servers support.
    Openai,
    /// A command-line program; with a key, Anthropic's Messages API.
    Program,
}

/// A provider in the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    pub name: String,
    pub protocol: Protocol,
    /// Base of its addresses; `None` if the user must name it.
    pub url: Option<String>,
    pub path: String,
    /// Variables that may hold the key.
    pub key: Vec<String>,
    pub key_prefix: Option<String>,
    /// Whether servers of other vendors issue keys with the same prefix.
    #[serde(default, rename = "key_prefix_shared")]
    pub is_key_prefix_shared: bool,
    /// The key to send if none is set.
    pub default_key: Option<String>,
    #[serde(default)]
    pub url_variable: Vec<String>,
    pub model: Option<String>,
    /// Name of the field that limits the tokens; the newer name by default.
    pub token_field: Option<String>,
    pub program: Option<String>,
    /// Maximum tokens of an answer.
    pub max_tokens: u32,
    /// Maximum tokens of the second attempt, if the first one had no room for text.
    pub retry_tokens: u32,
    /// Time limit of an attempt in seconds.
    pub attempt_s: u64,
    /// Time limit of all attempts together in seconds.
    pub deadline_s: u64,
    /// Maximum bytes of data to send; `None` for no limit.
    pub payload_bytes: Option<usize>,
    #[serde(default)]
    pub aliases: BTreeMap<String, String>,
}

/// Known properties of models with the same name prefix.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    prefix: String,
    #[serde(default)]
    pub thinking: bool,
    #[serde(default)]
    pub json_schema: bool,
    pub beta: Option<String>,
    /// US dollars for a million tokens.
    pub input_usd: Option<f64>,
    pub output_usd: Option<f64>,
    pub cache_write_usd: Option<f64>,
    pub cache_read_usd: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelsFile {
    #[serde(rename = "source")]
    _source: String,
    key_shapes: Vec<String>,
    answer: AnswerLimits,
    payload: PayloadOrder,
    provider: Vec<Provider>,
    model: Vec<Model>,
}

/// Limits for an answer in a document.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerLimits {
    pub characters: usize,
    pub paragraphs: usize,
    /// Maximum number of listed statements that the document does not have.
    pub flaws: usize,
}

/// The most important data, if not all of it can be sent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PayloadOrder {
    /// Tables, the most important first.
    pub tables: Vec<String>,
}

fn form() -> Result<&'static ModelsFile, LlmError> {
    static FORM: OnceLock<Result<ModelsFile, String>> = OnceLock::new();
    let form = FORM.get_or_init(|| toml::from_str(MODELS).map_err(|error| error.to_string()));
    form.as_ref().map_err(|error| LlmError::Internal(format!("share/llm/models.toml: {error}")))
}

/// All providers in the order of the table.
///
/// # Errors
/// When the table is wrong, which the tests exclude.
pub fn providers() -> Result<&'static [Provider], LlmError> {
    Ok(&form()?.provider)
}

/// Prefixes of keys, which reveal a key in a wrong place.
pub(crate) fn key_shapes() -> &'static [String] {
    form().map(|form| form.key_shapes.as_slice()).unwrap_or_default()
}

/// Limits for an answer in a document.
pub(crate) fn answer_limits() -> AnswerLimits {
    form().map(|form| form.answer).unwrap_or_default()
}

/// The most important tables, in order.
pub(crate) fn important_tables() -> &'static [String] {
    form().map(|form| form.payload.tables.as_slice()).unwrap_or_default()
}

/// The known properties of a model: the entry with the longest matching name prefix, without a vendor prefix such as
/// `anthropic/`.
pub fn model(name: &str) -> Model {
    let bare = name.rsplit('/').next().unwrap_or(name);
    let models = form().map(|form| form.model.as_slice()).unwrap_or_default();
    let known = models.iter().filter(|model| bare.starts_with(&model.prefix));
    known.max_by_key(|model| model.prefix.len()).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let names: Vec<&str> = providers().unwrap().iter().map(|provider| provider.name.as_str()).collect();
        assert_eq!(names, ["anthropic", "openai", "private", "local", "claude-code"]);
        assert!(answer_limits().characters > 1000 && !important_tables().is_empty() && !key_shapes().is_empty());
        assert!(providers().unwrap().iter().all(|provider| provider.retry_tokens > provider.max_tokens));
    }

    #[test]
    fn the_longest_prefix_counts() {
        assert!(model("claude-sonnet-4-5-20250929").thinking);
        assert!(!model("claude-sonnet-4-20250514").thinking);
        assert_eq!(model("claude-3-7-sonnet-latest").beta.as_deref(), Some("thinking-2025-02-19"));
        assert_eq!(model("openai/gpt-4o-mini").input_usd, Some(0.15));
        assert_eq!(model("unheard-of").input_usd, None);
    }
}
