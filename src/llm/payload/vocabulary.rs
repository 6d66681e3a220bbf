//! Words and texts that say nothing about anyone: those of the language, of this program and its documentation.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::cells::words;
use crate::engine::{ColumnUnit, Query, Registry};
use crate::llm::guide::GUIDE;
use crate::schema::{Table, tables};

/// Texts whose words are no names.
const TEXTS: [&str; 15] = [
    include_str!("../../../share/llm/english.txt"),
    include_str!("../../../templates/llm/ask.md"),
    include_str!("../../../templates/llm/by_text.md"),
    include_str!("../../../share/mcp/tools.json"),
    include_str!("../../../share/mcp/instructions.md"),
    include_str!("../../../share/rules/communication.toml"),
    include_str!("../../../share/rules/counters.toml"),
    include_str!("../../../share/rules/health.toml"),
    include_str!("../../../share/rules/kernels.toml"),
    include_str!("../../../share/rules/memory.toml"),
    include_str!("../../../share/rules/ranges.toml"),
    include_str!("../../../share/rules/ranks.toml"),
    include_str!("../../../share/rules/recommendations.toml"),
    include_str!("../../../share/rules/thread_trace.toml"),
    include_str!("../../../share/rules/time.toml"),
];

/// What may leave at the level of figures.
pub(crate) struct Vocabulary {
    /// Whole texts of the documentation.
    texts: BTreeSet<String>,
    /// Words in lower case.
    words: BTreeSet<String>,
}

impl Vocabulary {
    /// That of the program as it was built; queries of the user are not in it.
    pub(crate) fn builtin() -> &'static Self {
        static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
        VOCABULARY.get_or_init(|| {
            let mut all = Self { texts: BTreeSet::new(), words: BTreeSet::new() };
            TEXTS.iter().chain([&GUIDE]).for_each(|text| all.add_words(text));
            words().iter().for_each(|word| all.add(word));
            tables().iter().for_each(|table| all.add_table(table));
            // A test reads the queries, so that they are always there.
            let registry = Registry::builtin().ok();
            registry.iter().flat_map(Registry::iter).for_each(|query| all.add_query(query));
            all
        })
    }

    /// Whether a text stands in the documentation as a whole.
    pub(crate) fn has_text(&self, text: &str) -> bool {
        self.texts.contains(text)
    }

    /// Whether a word is no name: one of the language or the program, or a number, with its unit or not.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        let lower = word.to_lowercase();
        let rest = lower.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let is_number =
            rest.len() < lower.len() && (rest.is_empty() || ColumnUnit::parse(rest).is_some() || is_unit(rest));
        lower.chars().count() == 1 || is_number || is_gpu(&lower) || self.words.contains(&lower)
    }

    fn add(&mut self, text: &str) {
        self.texts.insert(text.to_owned());
        self.add_words(text);
    }

    fn add_words(&mut self, text: &str) {
        let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        self.words.extend(words.filter(|word| !word.is_empty()).map(str::to_lowercase));
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
        declaration.dimensions.iter().chain(&declaration.by).for_each(|name| self.add(name));
    }
}

fn is_unit(rest: &str) -> bool {
    matches!(
        rest,
        "x" | "k" | "m" | "g" | "s" | "gb" | "mb" | "kb" | "gib" | "mib" | "kib" | "d" | "th" | "st" | "nd" | "rd"
    )
}

/// Whether a word is an architecture or a product, such as gfx942 or MI300X.
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
    }
}
