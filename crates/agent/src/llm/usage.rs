//! Token counts of requests and answers, and their cost.

use std::ops::AddAssign;

use serde_json::Value;

use super::models::Model;
use wavesieve_engine::findings::counted;

/// Tokens of one or several requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Sent tokens that were not in a cache.
    pub input: u64,
    /// Tokens of the answers, including thinking.
    pub output: u64,
    /// Tokens that were written to the provider's cache.
    pub cache_write: u64,
    /// Tokens that were read from the cache.
    pub cache_read: u64,
    /// Whether some requests have no counts.
    pub is_incomplete: bool,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.is_incomplete |= other.is_incomplete || other.is_unknown();
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
    }
}

impl Usage {
    /// Adds the counts of a response or an event of Anthropic; later counts replace earlier ones.
    pub(crate) fn take_anthropic(&mut self, usage: &Value) {
        let take = |field: &mut u64, name: &str| {
            if let Some(count) = usage.get(name).and_then(Value::as_u64) {
                *field = count;
            }
        };
        take(&mut self.input, "input_tokens");
        take(&mut self.output, "output_tokens");
        take(&mut self.cache_write, "cache_creation_input_tokens");
        take(&mut self.cache_read, "cache_read_input_tokens");
    }

    /// Adds the counts of a chat completion, whose prompt tokens include cached ones.
    pub(crate) fn take_openai(&mut self, usage: &Value) {
        let count = |path: &str| usage.pointer(path).and_then(Value::as_u64);
        if let Some(input) = count("/prompt_tokens") {
            self.cache_read = count("/prompt_tokens_details/cached_tokens").unwrap_or(0).min(input);
            self.input = input - self.cache_read;
        }
        if let Some(output) = count("/completion_tokens") {
            self.output = output;
        }
    }

    /// Returns whether no counts were reported: every answer has tokens.
    fn is_unknown(&self) -> bool {
        self.sent() == 0 && self.output == 0
    }

    fn sent(&self) -> u64 {
        self.input.saturating_add(self.cache_write).saturating_add(self.cache_read)
    }

    /// US dollars by the prices of a model; `None` if the prices or the tokens are unknown.
    pub(crate) fn cost_usd(&self, model: &Model) -> Option<f64> {
        if self.sent() == 0 || self.output == 0 || self.is_incomplete {
            return None;
        }
        let (input, output) = (model.input_usd?, model.output_usd?);
        let of = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        Some(
            of(self.input, input)
                + of(self.output, output)
                + of(self.cache_write, model.cache_write_usd.unwrap_or(input))
                + of(self.cache_read, model.cache_read_usd.unwrap_or(input)),
        )
    }

    /// The counts in a sentence, with the cost if known. Missing counts are unknown, never zero.
    pub fn line(&self, model: &Model) -> String {
        if self.is_unknown() {
            return "tokens and cost not known".to_owned();
        }
        let least = if self.is_incomplete { "at least " } else { "" };
        let tokens = |count: u64| match count {
            0 => "unknown tokens".to_owned(),
            count => format!("{least}{}", counted(count as f64, "token")),
        };
        let cached = if self.cache_read > 0 { format!(" ({} cached)", self.cache_read) } else { String::new() };
        let cost = match self.cost_usd(model) {
            Some(cost) => format!("about ${cost:.4}"),
            None => "cost not known".to_owned(),
        };
        format!("{} sent{cached}, {} received, {cost}", tokens(self.sent()), tokens(self.output))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::models::model;
    use super::*;

    #[test]
    fn cached_tokens_cost_less() {
        let mut usage = Usage::default();
        usage.take_anthropic(&json!({"input_tokens": 1000, "output_tokens": 100, "cache_read_input_tokens": 10000}));
        let cost = usage.cost_usd(&model("claude-sonnet-4-20250514")).unwrap();
        assert!((cost - (0.003 + 0.0015 + 0.003)).abs() < 1e-12, "{cost}");
        assert_eq!(usage.cost_usd(&model("codellama:13b")), None);
        assert!(usage.line(&model("codellama:13b")).contains("11,000 tokens sent (10000 cached), 100 tokens received"));
    }

    #[test]
    fn cached_tokens_are_part_of_a_prompt() {
        let mut usage = Usage::default();
        let reply =
            json!({"prompt_tokens": 50, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 20}});
        usage.take_openai(&reply);
        assert_eq!(usage, Usage { input: 30, output: 7, cache_read: 20, ..Usage::default() });
    }

    #[test]
    fn counts_that_were_not_reported_are_not_zero() {
        let known = model("claude-sonnet-4-20250514");
        let line = |usage: Usage| usage.line(&known);
        assert_eq!(line(Usage::default()), "tokens and cost not known");
        assert_eq!(
            line(Usage { output: 5, ..Usage::default() }),
            "unknown tokens sent, 5 tokens received, cost not known"
        );
        // One of several requests has no counts.
        let mut sum = Usage::default();
        sum += Usage { input: 1000, output: 10, ..Usage::default() };
        assert!(line(sum).starts_with("1,000 tokens sent, 10 tokens received, about $"), "{}", line(sum));
        sum += Usage::default();
        sum += Usage { input: 500, output: 1, ..Usage::default() };
        assert_eq!(line(sum), "at least 1,500 tokens sent, at least 11 tokens received, cost not known");
    }
}
