//! Public words and texts: of the language, of this program and of its documentation.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::cells::{lists, words};
use super::program_texts::{TABLES, TEXTS};
use crate::llm::guide::GUIDE;
use wavesieve_engine::{ColumnUnit, Query, Registry};
use wavesieve_model::analysis::hardware::metrics::{Definitions, hardware_counter};
use wavesieve_model::schema::{Table, tables};

/// Minimum length of a statement's text that counts as the program's.
const SHORTEST_TEXT: usize = 3;
/// Maximum digits of an index, such as a rank.
const MOST_DIGITS: usize = 4;

/// The words that may be sent at the level of figures.
pub struct Vocabulary {
    /// Whole texts of the documentation.
    texts: BTreeSet<String>,
    /// Words in lower case.
    words: BTreeSet<String>,
}

impl Vocabulary {
    /// The vocabulary of the built program, without the user's queries.
    pub fn builtin() -> &'static Self {
        static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
        VOCABULARY.get_or_init(|| {
            let mut all = Self { texts: BTreeSet::new(), words: BTreeSet::new() };
            TEXTS.iter().chain([&GUIDE]).for_each(|text| all.add_words(text));
            for table in TABLES {
                all.add_words(table);
                literals(table, '"').for_each(|text| all.add(text));
            }
            for metric in &Definitions::builtin().metrics {
                all.add(&metric.title);
                for counter in metric.on.iter().flat_map(|on| on.formula.counters()) {
                    all.add(bare(&counter.name));
                }
            }
            words().iter().for_each(|word| all.add(word));
            tables().iter().for_each(|table| all.add_table(table));
            Registry::embedded().iter().for_each(|query| all.add_query(query));
            all
        })
    }

    /// Returns whether the documentation has a text as a whole.
    pub(crate) fn has_text(&self, text: &str) -> bool {
        self.texts.contains(text) || is_gpu(&text.to_lowercase()) || self.texts.contains(bare(text))
    }

    /// Returns whether all words of a text are public.
    pub fn has_words(&self, text: &str) -> bool {
        words_of(text).all(|word| self.has_word(word))
    }

    /// Returns whether a word is public: from the language or the program, or a number with or without a unit.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        let lower = word.to_lowercase();
        let rest = lower.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let is_number =
            rest.len() < lower.len() && (rest.is_empty() || ColumnUnit::parse(rest).is_some() || is_unit(rest));
        let is_plural = || {
            let one = lower.strip_suffix('s').filter(|one| one.len() >= SHORTEST_TEXT);
            one.is_some_and(|one| self.words.contains(one))
        };
        lower.chars().count() == 1
            || is_number
            || is_gpu(&lower)
            || is_indexed(&lower)
            || self.words.contains(&lower)
            || is_plural()
    }

    fn add(&mut self, text: &str) {
        self.texts.insert(text.to_owned());
        self.add_words(text);
    }

    fn add_words(&mut self, text: &str) {
        self.words.extend(words_of(text).map(str::to_lowercase));
    }

    fn add_table(&mut self, table: &Table) {
        [table.name, table.about].into_iter().chain(table.key.iter().copied()).for_each(|text| self.add(text));
        for column in table.columns {
            [column.name, column.doc, column.unit.name()].into_iter().for_each(|text| self.add(text));
            self.add(column.column_type.name());
        }
    }

    fn add_query(&mut self, query: &Query) {
        let declaration = &query.declaration;
        [&query.name, &query.family, &declaration.title, &declaration.about]
            .into_iter()
            .for_each(|text| self.add(text));
        for parameter in &declaration.parameters {
            [&parameter.name, &parameter.default, &parameter.doc].into_iter().for_each(|text| self.add(text));
            self.add(&parameter.explained());
        }
        for column in &declaration.columns {
            [column.name.as_str(), column.unit.word(), &column.doc].into_iter().for_each(|text| self.add(text));
        }
        // Texts that a statement writes into its cells.
        let code = query.text.lines().filter(|line| !line.trim_start().starts_with("--"));
        let is_text = |text: &&str| {
            text.len() >= SHORTEST_TEXT
                && text.starts_with(char::is_alphabetic)
                && text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | ' ' | '-' | ','))
        };
        code.flat_map(|line| literals(line, '\'')).filter(is_text).for_each(|text| self.add(text));
        declaration.dimensions.iter().chain(&declaration.by).for_each(|name| self.add(name));
    }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.filter(|word| !word.is_empty())
}

/// The quoted texts within single lines.
fn literals(text: &str, quote: char) -> impl Iterator<Item = &str> {
    text.lines().flat_map(move |line| line.split(quote).skip(1).step_by(2)).filter(|text| !text.trim().is_empty())
}

/// A counter without its instance, device, and reduction suffix.
pub(crate) fn bare(name: &str) -> &str {
    let end = name.find(['[', ':']).unwrap_or(name.len());
    let (start, rest) = name.split_at_checked(end).unwrap_or((name, ""));
    // Any other suffix is a private name, as in `file:///home/me`.
    let is_place = rest.replace("device=", "").chars().all(|letter| letter.is_ascii_digit() || "[]:,".contains(letter));
    if is_place { hardware_counter(start) } else { name }
}

/// Returns whether a word is a term of this program, or a number format, with its number, such as rank3 and fp16.
fn is_indexed(word: &str) -> bool {
    let base = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let digits = word.get(base.len()..).unwrap_or_default();
    let is_padded = digits.len() > 1 && digits.starts_with('0');
    (1..=MOST_DIGITS).contains(&digits.len()) && !is_padded && lists().indexed.contains(base)
}

fn is_unit(rest: &str) -> bool {
    matches!(
        rest,
        "x" | "k" | "m" | "g" | "s" | "gb" | "mb" | "kb" | "gib" | "mib" | "kib" | "d" | "th" | "st" | "nd" | "rd"
    )
}

/// Returns whether a word is an architecture or a product, such as gfx942 or MI300X.
fn is_gpu(word: &str) -> bool {
    let of_architecture = word.strip_prefix("gfx");
    let of_product = word.strip_prefix("mi").map(|rest| rest.trim_end_matches(['x', 'a']));
    of_architecture
        .is_some_and(|rest| (3..=4).contains(&rest.len()) && rest.chars().all(|letter| letter.is_ascii_hexdigit()))
        || of_product
            .is_some_and(|rest| (2..=3).contains(&rest.len()) && rest.chars().all(|letter| letter.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_field_are_no_names() {
        let vocabulary = Vocabulary::builtin();
        for word in
            ["Why", "kernels", "idle_by_cause", "12.5", "10us", "3x", "gfx942", "MI300X", "duration_ns", "straggler"]
        {
            assert!(vocabulary.has_word(word), "{word}");
        }
        for word in ["atlas17", "zebra", "gfx_zebra", "4f2", "conv2d_forward_kernel", "two_nodes"] {
            assert!(!vocabulary.has_word(word), "{word}");
        }
        assert!(vocabulary.has_text("Idle time by cause"));
        for text in ["no_record", "host_bound", "not_comparable", "too few calls", "SQ_WAVES", "gfx90a", "hipMemcpy"] {
            assert!(vocabulary.has_text(text), "{text}");
        }
        for text in ["SQ_WAVES[3]", "TCC_HIT[1]:device=2", "SQ_WAVES_sum"] {
            assert!(vocabulary.has_text(text), "{text}");
        }
        for text in ["file:///home/falcon", "SQ_WAVES:falcon", "kernel[falcon]"] {
            assert!(!vocabulary.has_text(text), "{text}");
        }
        for text in ["falcon", "jsmith", "zebra", "atlas17", "node3", "hunter2", "gpu05"] {
            assert!(!vocabulary.has_text(text) && !vocabulary.has_word(text), "{text}");
        }
    }

    /// Words of questions that a user would not choose as a name.
    #[test]
    fn questions_of_the_field_have_no_names() {
        let vocabulary = Vocabulary::builtin();
        for text in [
            "project yesterday dataloader VRAM memcpy memcpys prefill decode endless password latency latencies csv decided",
            "batch epoch optimizer allreduce all-reduce attention inference training token layer gradient backward forward",
            "checkpoint offload PCIe XGMI HBM LDS VGPR wavefront roofline GEMM conv softmax Triton PyTorch JAX vLLM",
            "Megatron DeepSpeed RCCL MPI Slurm TRY_CAST rocpd rocprofv3 rank3 gpu0 layer12 fp16 int8 sha256 conv2d mi300x",
            "hipMemcpyAsync ncclAllReduce roctxRangePush Comparability not_comparable trace_health",
        ] {
            for word in words_of(text) {
                assert!(vocabulary.has_word(word), "{word}");
            }
        }
    }
}
