//! Texts of ranges that servers open around their steps.

use regex::{Captures, Regex};
use serde::Deserialize;

use crate::analysis::inference::kinds::StepKind;
use crate::analysis::kernel_names::base_name;

const FACTS: &str = data!("share/inference.toml");
/// A larger number is not a count of tokens or requests of a step.
const MOST_TOKENS: i64 = 1 << 40;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FactsFile {
    marker: Vec<MarkerText>,
    sizes: Sizes,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MarkerText {
    #[serde(rename = "program")]
    _program: String,
    regex: String,
    kind: Option<StepKind>,
    #[serde(default)]
    one_token: bool,
    #[serde(default, rename = "seen")]
    _seen: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sizes {
    grid_is_tokens: Vec<String>,
    least_prefill_ratio: i64,
    #[serde(rename = "source")]
    _source: String,
}

struct Marker {
    regex: Regex,
    kind: Option<StepKind>,
    one_token: bool,
}

/// Facts from `share/inference.toml`.
pub struct StepFacts {
    markers: Vec<Marker>,
    sizes: Sizes,
}

/// Facts about a step, from the text of its range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkedStep {
    pub kind: Option<StepKind>,
    pub prefill_requests: Option<i64>,
    pub prefill_tokens: Option<i64>,
    pub decode_requests: Option<i64>,
    pub decode_tokens: Option<i64>,
}

impl StepFacts {
    /// The built-in facts.
    ///
    /// # Errors
    /// When the file is wrong, which the tests exclude.
    pub fn builtin() -> anyhow::Result<Self> {
        let file: FactsFile = toml::from_str(FACTS)?;
        let compiled = |marker: MarkerText| -> anyhow::Result<Marker> {
            Ok(Marker { regex: Regex::new(&marker.regex)?, kind: marker.kind, one_token: marker.one_token })
        };
        let markers: anyhow::Result<Vec<Marker>> = file.marker.into_iter().map(compiled).collect();
        Ok(Self { markers: markers?, sizes: file.sizes })
    }

    /// The step that the text of a range describes, if it describes one.
    pub fn marked_step(&self, text: &str) -> Option<MarkedStep> {
        let (marker, found) = self.markers.iter().find_map(|marker| Some((marker, marker.regex.captures(text)?)))?;
        Some(MarkedStep::new(marker, &found))
    }

    /// Whether a kernel starts one workgroup for each token, by its display name.
    pub fn grid_is_tokens(&self, display_name: &str) -> bool {
        self.sizes.grid_is_tokens.contains(&base_name(display_name))
    }

    /// A prefill has at least this many times the tokens of the smallest step.
    pub fn least_prefill_ratio(&self) -> i64 {
        self.sizes.least_prefill_ratio
    }
}

impl MarkedStep {
    fn new(marker: &Marker, found: &Captures<'_>) -> Self {
        let count = |name: &str| found.name(name)?.as_str().parse().ok().filter(|count: &i64| *count <= MOST_TOKENS);
        let decode_requests = count("decode_requests");
        let mut step = Self {
            kind: None,
            prefill_requests: count("prefill_requests"),
            prefill_tokens: count("prefill_tokens"),
            decode_requests,
            decode_tokens: count("decode_tokens").or(decode_requests.filter(|_| marker.one_token)),
        };
        step.kind = marker.kind.or_else(|| step.kind_by_counts());
        // A text that states one kind has no requests of the other kind.
        match marker.kind {
            Some(StepKind::Prefill) => (step.decode_requests, step.decode_tokens) = (Some(0), Some(0)),
            Some(StepKind::Decode) => (step.prefill_requests, step.prefill_tokens) = (Some(0), Some(0)),
            _ => {}
        }
        step
    }

    fn kind_by_counts(&self) -> Option<StepKind> {
        match (self.prefill_requests? > 0, self.decode_requests? > 0) {
            (true, false) => Some(StepKind::Prefill),
            (false, true) => Some(StepKind::Decode),
            (true, true) => Some(StepKind::Mixed),
            (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kind, requests and tokens of prefill, requests and tokens of decode; `-` for what is not known.
    fn parsed(text: &str) -> Option<String> {
        let step = StepFacts::builtin().unwrap().marked_step(text)?;
        let counts = [step.prefill_requests, step.prefill_tokens, step.decode_requests, step.decode_tokens];
        let counts = counts.map(|count| count.map_or("-".to_owned(), |count| count.to_string()));
        let kind = step.kind.map_or("-".to_owned(), |kind| format!("{kind:?}"));
        Some(format!("{kind} {}", counts.join(" ")))
    }

    #[test]
    fn texts_of_real_traces_are_known() {
        for (text, requests) in [
            ("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)", 32),
            ("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)", 32),
            ("execute_16_context_0(sq0sk0sqsq0sqsk0)_generation_16(sq16sk8209sqsq16sqsk8209)", 16),
            ("step[DECODE bs=32]", 32),
        ] {
            assert_eq!(parsed(text), Some(format!("Decode 0 0 {requests} {requests}")), "{text}");
        }
    }

    #[test]
    fn texts_that_programs_write_are_known() {
        let long = "execute_6147_context_2(sq6144sk7144sqsq20971520sqsk23019520)_generation_3(sq3sk6144sqsq3sqsk6144)";
        for (text, expected) in [
            ("execute_context_2(14721)_generation_0(0)", "Prefill 2 14721 0 0"),
            ("execute_context_0(0)_generation_32(128)", "Decode 0 0 32 128"),
            ("execute_context_2(6144)_generation_3(3)", "Mixed 2 6144 3 3"),
            ("execute_context_0(0)_generation_0(0)", "- 0 0 0 0"),
            (long, "Mixed 2 6144 3 3"),
            ("execute_new_1_cached_3", "- - - - -"),
            ("step[EXTEND bs=2 toks=14721]", "Prefill 2 14721 0 0"),
            ("step[EXTEND bs=2 toks=14721 c_sqsq=108745533 c_sqsk=120007533 c_sk=16221]", "Prefill 2 14721 0 0"),
            ("step[DECODE bs=64 g_sqsq=64 g_sqsk=131072 g_sk=131072]", "Decode 0 0 64 64"),
            ("step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]", "Decode 0 0 64 128"),
            ("step[MIXED bs=2]", "Mixed - - - -"),
            (
                "step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 g_sqsq=1 g_sqsk=12]",
                "Mixed 1 5 1 1",
            ),
            ("step[TARGET_VERIFY bs=4]", "Decode 0 0 4 -"),
            ("step[IDLE bs=0]", "- - - - -"),
            ("prefill[bs=2 tok=14721 ctx=[7803, 6918]]", "Prefill 2 14721 0 0"),
            ("decode[bs=117/128 tok=117 d=117]", "Decode 0 0 117 117"),
            ("decode[bs=128 tok=384 p=2 d=126 tbo=1]", "Mixed 2 - 126 -"),
            // Counts beyond 64 bits are unknown, not wrong.
            ("execute_context_99999999999999999999(1)_generation_0(0)", "- - 1 0 0"),
        ] {
            assert_eq!(parsed(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_texts_are_of_no_step() {
        for text in [
            "",
            "ProfilerStep#42",
            "gpu_model_runner: forward",
            "step 3",
            "decode",
            "execute_diffusion_1_256x256",
            "step[0]",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
